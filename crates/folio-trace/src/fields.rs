//! The fields of an event, and how they are written as JSON.
//!
//! By hand: `serde_json` implements comparisons for the types of the standard library, with which
//! comparisons such as `x == []` of who depends on it no longer have a type that is known.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter, Write};
use tracing::field::{Field, Visit};

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(u64),
    Signed(i64),
    /// Microseconds: finite.
    Time(f64),
    Flag(bool),
    List(Vec<String>),
    Object(Fields),
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }
}

fn quote(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c.is_control() && u32::from(c) < 0x10000 => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => quote(text, f),
            Value::Number(number) => Display::fmt(number, f),
            Value::Signed(number) => Display::fmt(number, f),
            Value::Time(time) => write!(f, "{time:.3}"),
            Value::Flag(flag) => Display::fmt(flag, f),
            Value::Object(fields) => Display::fmt(fields, f),
            Value::List(texts) => {
                f.write_char('[')?;
                for (at, text) in texts.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    quote(text, f)?;
                }
                f.write_char(']')
            }
        }
    }
}

/// Values by name: an object of JSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields(pub(crate) BTreeMap<String, Value>);

impl Display for Fields {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (at, (name, value)) in self.0.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            quote(name, f)?;
            write!(f, ":{value}")?;
        }
        f.write_char('}')
    }
}

impl Fields {
    pub(crate) fn put(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// With this value.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Fields {
        self.put(name, value);
        self
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// Labels are told as messages show them: in quotes, or in words where there is none.
    pub(crate) fn unquote(&mut self, name: &str) {
        let Some(Value::Text(text)) = self.0.get_mut(name) else { return };
        let inner = text.strip_prefix('`').and_then(|text| text.strip_suffix('`'));
        match inner.map(str::to_owned) {
            Some(inner) => *text = inner,
            None => drop(self.0.remove(name)),
        }
    }

    /// Makes a list of a text's lines, if it is there.
    pub(crate) fn split(&mut self, name: &str) {
        if let Some(Value::Text(text)) = self.0.get(name) {
            let lines = text.lines().map(str::to_owned).collect();
            self.put(name, Value::List(lines));
        }
    }

    pub(crate) fn take(&mut self, name: &str) -> String {
        match self.0.remove(name) {
            Some(Value::Text(text)) => text,
            _ => String::new(),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field.name(), Value::Text(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), Value::text(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), Value::Number(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), Value::Signed(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), Value::Flag(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_without_quotes_and_none_not_at_all() {
        let told = |label: &str| {
            let mut fields = Fields::default().with("label", Value::text(label));
            fields.unquote("label");
            fields
        };
        assert_eq!(told("`a `b`").text("label"), "a `b");
        assert_eq!(told("without a name"), Fields::default());
    }

    #[test]
    fn values_are_json() {
        let list = Value::List(vec!["a".to_owned(), "b\"".to_owned()]);
        let inner = Fields::default().with("at", Value::Time(1.5)).with("is", Value::Flag(true));
        let fields = Fields::default()
            .with("text", Value::text("\"a\\\n\u{7f}ä\u{1F600}"))
            .with("list", list)
            .with("inner", Value::Object(inner))
            .with("n", Value::Number(u64::MAX))
            .with("m", Value::Signed(-1));
        let text = fields.to_string();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["text"], "\"a\\\n\u{7f}ä\u{1F600}");
        assert_eq!(read["list"], serde_json::json!(["a", "b\""]));
        assert_eq!(read["inner"], serde_json::json!({"at": 1.5, "is": true}));
        assert_eq!((&read["n"], &read["m"]), (&u64::MAX.into(), &(-1).into()));
    }
}
