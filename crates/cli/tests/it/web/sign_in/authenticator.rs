//! A software authenticator with one key, in the role of browser and phone.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

pub struct Authenticator {
    key: EcdsaKeyPair,
    id: Vec<u8>,
    /// The origin that the browser reports.
    pub origin: String,
    pub counter: u32,
    /// Whether the user is verified, by fingerprint or PIN.
    pub verifies: bool,
}

const PRESENT: u8 = 1;
const VERIFIED: u8 = 1 << 2;
const HOLDS_KEY: u8 = 1 << 6;

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Authenticator {
    pub fn at(origin: &str) -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).expect("a key");
        let id = digest(&SHA256, key.public_key().as_ref()).as_ref().to_vec();
        Self {
            key,
            id,
            origin: origin.to_owned(),
            counter: 0,
            verifies: true,
        }
    }

    /// Creates a credential for the options of `begin`.
    pub fn create(&mut self, options: &Value) -> Value {
        let client_data = self.client_data("webauthn.create", options);
        let mut data = self.data(options["rp"]["id"].as_str().expect("a relying party"), HOLDS_KEY);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).expect("a short id").to_be_bytes());
        data.extend(&self.id);
        data.extend(self.cose_key());
        let mut object = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58".to_vec();
        object.push(u8::try_from(data.len()).expect("less than 256 bytes"));
        object.extend(&data);
        json!({
            "id": encode(&self.id), "rawId": encode(&self.id), "type": "public-key",
            "authenticatorAttachment": "platform", "clientExtensionResults": {"credProps": {"rk": true}},
            "response": {
                "clientDataJSON": encode(&client_data), "attestationObject": encode(&object),
                "transports": ["internal"], "publicKeyAlgorithm": -7,
            },
        })
    }

    /// Signs the challenge of `begin`.
    pub fn get(&mut self, options: &Value) -> Value {
        self.counter += 1;
        let client_data = self.client_data("webauthn.get", options);
        let data = self.data(options["rpId"].as_str().expect("a relying party"), 0);
        let signed = [&data, digest(&SHA256, &client_data).as_ref()].concat();
        let signature = self.key.sign(&SystemRandom::new(), &signed).expect("a signature");
        json!({
            "id": encode(&self.id), "rawId": encode(&self.id), "type": "public-key",
            "authenticatorAttachment": "platform", "clientExtensionResults": {},
            "response": {
                "clientDataJSON": encode(&client_data), "authenticatorData": encode(&data),
                "signature": encode(signature.as_ref()), "userHandle": encode(&[7; 16]),
            },
        })
    }

    fn client_data(&self, kind: &str, options: &Value) -> Vec<u8> {
        json!({"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": false})
            .to_string()
            .into_bytes()
    }

    fn data(&self, party: &str, flags: u8) -> Vec<u8> {
        let mut data = digest(&SHA256, party.as_bytes()).as_ref().to_vec();
        data.push(flags | PRESENT | if self.verifies { VERIFIED } else { 0 });
        data.extend(self.counter.to_be_bytes());
        data
    }

    /// The public key in COSE format.
    fn cose_key(&self) -> Vec<u8> {
        let point = self.key.public_key().as_ref();
        let (x, y) = point[1..].split_at(32);
        [b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20", x, b"\x22\x58\x20", y].concat()
    }
}
