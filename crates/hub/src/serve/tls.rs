//! The TLS acceptor, from certificate files.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use countersign_config::TlsFiles;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

pub fn acceptor(files: &TlsFiles) -> anyhow::Result<TlsAcceptor> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(certificates(&files.cert)?, key(&files.key)?)
        .context("the certificate and the key do not match")?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(file: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let shown = file.display();
    let found = CertificateDer::pem_file_iter(file).with_context(|| format!("cannot read {shown}"))?;
    let certificates: Vec<_> = found
        .collect::<Result<_, _>>()
        .with_context(|| format!("{shown} is not PEM"))?;
    anyhow::ensure!(!certificates.is_empty(), "{shown} contains no certificate");
    Ok(certificates)
}

fn key(file: &Path) -> anyhow::Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(file).with_context(|| format!("{} contains no private key", file.display()))
}
