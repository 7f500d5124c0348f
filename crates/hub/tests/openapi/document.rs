//! The API description, against which requests and replies are checked.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use axum::http::HeaderMap;
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

pub struct Document {
    pub text: Value,
    /// Compiled schemas are cached, because compiling costs far more than validating.
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

/// One described body: its schema and the examples given for it.
pub struct Body<'d> {
    pub place: String,
    pub schema: &'d Value,
    pub examples: Vec<&'d Value>,
}

impl Document {
    pub fn read() -> &'static Self {
        static READ: LazyLock<Document> = LazyLock::new(|| Document {
            text: serde_json::from_str(include_str!("../../openapi.json")).expect("the API description is JSON"),
            compiled: Mutex::default(),
        });
        &READ
    }

    pub fn operations(&self) -> impl Iterator<Item = (&str, &str)> {
        let paths = self.text["paths"].as_object().expect("paths");
        paths.iter().flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods");
            methods.keys().map(move |method| (method.as_str(), path.as_str()))
        })
    }

    pub fn operation(&self, method: &str, path: &str) -> &Value {
        let operation = &self.text["paths"][path][method];
        assert!(operation.is_object(), "{method} {path} is not described");
        operation
    }

    pub fn statuses(&self, method: &str, path: &str) -> BTreeSet<u16> {
        let responses = self.operation(method, path)["responses"]
            .as_object()
            .expect("responses");
        responses
            .keys()
            .map(|status| status.parse().expect("a status"))
            .collect()
    }

    /// Resolves a `$ref` within the document, or returns the value itself.
    pub fn follow<'d>(&'d self, value: &'d Value) -> &'d Value {
        match value["$ref"].as_str() {
            None => value,
            Some(reference) => {
                let pointer = reference.strip_prefix('#').expect("a reference within the document");
                self.text
                    .pointer(pointer)
                    .unwrap_or_else(|| panic!("{reference} leads nowhere"))
            }
        }
    }

    fn response(&self, method: &str, path: &str, status: u16) -> &Value {
        let responses = &self.operation(method, path)["responses"];
        let response = &responses[status.to_string()];
        assert!(
            response.is_object(),
            "{method} {path} gave {status}, which is not described"
        );
        self.follow(response)
    }

    /// Panics unless the document describes the reply.
    pub fn check_reply(&self, route: (&str, &str), status: u16, headers: &HeaderMap, body: &[u8]) {
        let (method, path) = route;
        let place = format!("{method} {path} {status}");
        let described = self.response(method, path, status);
        for (name, header) in described["headers"].as_object().into_iter().flatten() {
            let is_there = headers.contains_key(name);
            assert!(
                is_there || header["required"] != true,
                "{place}: the header {name} is missing"
            );
        }
        let Some(content) = described["content"].as_object() else {
            assert!(body.is_empty(), "{place}: a body that is not described");
            return;
        };
        let given = headers
            .get("content-type")
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let media = given.split(';').next().unwrap_or_default();
        let described = content
            .get(media)
            .unwrap_or_else(|| panic!("{place}: {media} is not described"));
        if media == "application/json" {
            let body: Value = serde_json::from_slice(body).unwrap_or_else(|error| panic!("{place}: {error}"));
            self.check(&place, &described["schema"], &body);
        }
    }

    /// Panics unless the document describes the request body.
    pub fn check_request(&self, route: (&str, &str), body: &Value) {
        let (method, path) = route;
        let schema = &self.operation(method, path)["requestBody"]["content"]["application/json"]["schema"];
        self.check(&format!("{method} {path}, the request"), schema, body);
    }

    pub fn check(&self, place: &str, schema: &Value, value: &Value) {
        let faults = self.faults(schema, value);
        assert!(faults.is_empty(), "{place}: {value:#}\ndoes not fit: {faults:#?}");
    }

    pub fn faults(&self, schema: &Value, value: &Value) -> Vec<String> {
        assert!(schema.is_object(), "no schema for {value}");
        let mut compiled = self.compiled.lock().expect("the lock is not poisoned");
        let validator = compiled
            .entry(schema.to_string())
            .or_insert_with(|| Arc::new(self.compile(schema)))
            .clone();
        drop(compiled);
        validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }

    /// Compiles a schema together with the components that its references point to.
    fn compile(&self, schema: &Value) -> Validator {
        let whole = json!({"allOf": [schema], "components": self.text["components"]});
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true);
        options
            .build(&whole)
            .unwrap_or_else(|error| panic!("{schema} is no schema: {error}"))
    }

    /// All described bodies: requests and replies, of calls and of pushes.
    pub fn bodies(&self) -> Vec<Body<'_>> {
        let mut bodies = Vec::new();
        for (method, path) in self.operations() {
            let operation = self.operation(method, path);
            self.collect(
                format!("{method} {path}, the request"),
                &operation["requestBody"],
                &mut bodies,
            );
            for (status, response) in operation["responses"].as_object().expect("responses") {
                self.collect(format!("{method} {path} {status}"), self.follow(response), &mut bodies);
            }
        }
        self.collect(
            "the push".to_owned(),
            &self.text["webhooks"]["resolution"]["post"]["requestBody"],
            &mut bodies,
        );
        bodies
    }

    fn collect<'d>(&'d self, place: String, holder: &'d Value, bodies: &mut Vec<Body<'d>>) {
        let media = &holder["content"]["application/json"];
        if !media.is_object() {
            return;
        }
        let named = media["examples"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(_, example)| &example["value"]);
        let examples = media.get("example").into_iter().chain(named).collect();
        bodies.push(Body {
            place,
            schema: &media["schema"],
            examples,
        });
    }
}
