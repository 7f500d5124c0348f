//! Preset reasons for rejecting, stored on the hub for all people.

use countersign_client::hub::{ClientError, HubClient, typed};
use serde_json::Value;

/// The reasons used with a hub too old to have presets.
const BUILT_IN: [&str; 5] = [
    "Too risky",
    "I need to know more first",
    "Do it another way",
    "No longer needed",
    "Not mine to decide",
];

pub fn built_in() -> Vec<String> {
    BUILT_IN.map(str::to_owned).into()
}

pub async fn read(client: &HubClient) -> Result<Vec<String>, ClientError> {
    offered(client.get_field(&["v1", "presets"], &[], "reject").await)
}

fn offered(reply: Result<Value, ClientError>) -> Result<Vec<String>, ClientError> {
    match reply {
        Ok(reasons) => typed(&reasons),
        Err(error) if error.has_code("not_found") => Ok(built_in()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use serde_json::json;

    use super::*;

    fn refused(status: StatusCode, code: &str) -> ClientError {
        ClientError::Refused {
            status,
            code: code.to_owned(),
            message: "no".to_owned(),
            field: None,
        }
    }

    #[test]
    fn the_hubs_presets_are_used_even_if_empty() {
        assert_eq!(offered(Ok(json!(["Not on a Friday"]))).unwrap(), ["Not on a Friday"]);
        assert_eq!(offered(Ok(json!([]))).unwrap(), [""; 0]);
    }

    #[test]
    fn built_in_presets_are_only_for_hubs_without_the_route() {
        assert_eq!(
            offered(Err(refused(StatusCode::NOT_FOUND, "not_found"))).unwrap(),
            built_in()
        );
        assert!(offered(Err(refused(StatusCode::SERVICE_UNAVAILABLE, "unavailable"))).is_err());
        assert!(offered(Err(ClientError::Unreachable("it is away".to_owned()))).is_err());
        assert!(offered(Ok(json!("Too risky"))).is_err());
    }
}
