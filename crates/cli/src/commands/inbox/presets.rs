//! Reasons an agent can work with, to pick from when rejecting. The hub keeps them for everybody.

use serde_json::Value;

use crate::client::{Client, HubError, typed};

/// What is offered where the hub is too old to be asked.
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

pub async fn read(client: &Client) -> Result<Vec<String>, HubError> {
    offered(client.get_field(&["v1", "presets"], &[], "reject").await)
}

fn offered(reply: Result<Value, HubError>) -> Result<Vec<String>, HubError> {
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

    fn refused(status: StatusCode, code: &str) -> HubError {
        HubError::Refused {
            status,
            code: code.to_owned(),
            message: "no".to_owned(),
            field: None,
        }
    }

    #[test]
    fn what_the_hub_offers_counts_even_if_it_is_nothing() {
        assert_eq!(offered(Ok(json!(["Not on a Friday"]))).unwrap(), ["Not on a Friday"]);
        assert_eq!(offered(Ok(json!([]))).unwrap(), [""; 0]);
    }

    #[test]
    fn only_a_hub_that_does_not_know_the_address_is_helped_out() {
        assert_eq!(
            offered(Err(refused(StatusCode::NOT_FOUND, "not_found"))).unwrap(),
            built_in()
        );
        assert!(offered(Err(refused(StatusCode::SERVICE_UNAVAILABLE, "unavailable"))).is_err());
        assert!(offered(Err(HubError::Unreachable("it is away".to_owned()))).is_err());
        assert!(offered(Ok(json!("Too risky"))).is_err());
    }
}
