//! The certificate of `serve --lan`, made here and kept in the data directory, so that a phone that trusts it once keeps
//! trusting it.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use countersign_config::TlsFiles;
use countersign_core::Digest;
use countersign_protocol::time::Timestamp;
use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::process::write_private;

/// A certificate is valid for a year and renewed before its end.
const RENEW_AFTER: Duration = Duration::from_secs(300 * 24 * 3600);

pub struct LanCertificate {
    pub files: TlsFiles,
    /// SHA-256 of the certificate, as browsers show it.
    pub fingerprint: String,
}

impl LanCertificate {
    /// The certificate for `ip`; a new one if there is none yet or it is about to expire.
    pub fn open(data: &Path, ip: IpAddr, now: Timestamp) -> anyhow::Result<Self> {
        let name = ip.to_string().replace(':', "_");
        let files = TlsFiles {
            cert: data.join(format!("lan-{name}.cert.pem")),
            key: data.join(format!("lan-{name}.key.pem")),
        };
        if !is_recent(&files.cert) || !files.key.is_file() {
            make(&files, ip, now).context("the certificate for --lan cannot be made")?;
        }
        let certificate = CertificateDer::from_pem_file(&files.cert)
            .with_context(|| format!("{} cannot be read; remove it", files.cert.display()))?;
        let fingerprint = colons(&Digest::of(&certificate).to_string());
        Ok(Self { files, fingerprint })
    }
}

fn is_recent(file: &Path) -> bool {
    let made = fs::metadata(file).and_then(|found| found.modified()).ok();
    made.and_then(|made| made.elapsed().ok())
        .is_some_and(|age| age < RENEW_AFTER)
}

fn make(files: &TlsFiles, ip: IpAddr, now: Timestamp) -> anyhow::Result<()> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec![ip.to_string()])?;
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, format!("Countersign on {ip}"));
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let (year, month, day) = date_of(now)?;
    params.not_before = date_time_ymd(year, month, day);
    params.not_after = date_time_ymd(year + 1, month, day);
    let certificate = params.self_signed(&key)?;
    write_private(&files.key, &key.serialize_pem())?;
    write_private(&files.cert, &certificate.pem())?;
    Ok(())
}

/// Every month has the days 1 to 28, also in the next year.
fn date_of(now: Timestamp) -> anyhow::Result<(i32, u8, u8)> {
    let text = now.to_string();
    let mut numbers = text.split(['-', 'T']);
    let mut next = || numbers.next().unwrap_or_default();
    let date = (next().parse()?, next().parse()?, next().parse::<u8>()?.min(28));
    ensure!(date.0 >= 2000, "the clock of this machine is wrong");
    Ok(date)
}

/// `ab:cd:…` in upper case.
fn colons(hex: &str) -> String {
    let upper = hex.to_uppercase();
    let pairs: Vec<&str> = (0..upper.len() / 2)
        .filter_map(|index| upper.get(index * 2..index * 2 + 2))
        .collect();
    pairs.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::tls;

    #[test]
    fn a_certificate_is_made_once_per_address_and_is_usable() {
        let data = std::env::temp_dir().join(format!("countersign-lan-{}", std::process::id()));
        fs::create_dir_all(&data).unwrap();
        let now = Timestamp::parse_rfc3339("2028-02-29T12:00:00Z").unwrap();
        let open = |ip: &str| LanCertificate::open(&data, ip.parse().unwrap(), now).unwrap();
        let first = open("192.168.1.5");
        assert_eq!(first.fingerprint.len(), 95, "{}", first.fingerprint);
        assert!(tls::acceptor(&first.files).is_ok());
        assert_eq!(open("192.168.1.5").fingerprint, first.fingerprint);
        assert_ne!(open("fd00::5").fingerprint, first.fingerprint);
        fs::remove_dir_all(&data).unwrap();
    }
}
