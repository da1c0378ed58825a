//! The fields of an event, as JSON.

use serde_json::{Map, Value};
use std::fmt::Debug;
use tracing::field::{Field, Visit};

#[derive(Clone, Default)]
pub(crate) struct Fields(pub(crate) Map<String, Value>);

impl Fields {
    pub(crate) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// Labels are told as messages show them.
    pub(crate) fn unquote(&mut self, name: &str) {
        if let Some(Value::String(text)) = self.0.get_mut(name) {
            *text = text.trim_matches('`').to_owned();
        }
    }

    pub(crate) fn take(&mut self, name: &str) -> String {
        match self.0.remove(name) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), value);
    }
}
