//! As much JSON as cargo's messages need: a value parser and string quoting.

use std::collections::BTreeMap;

/// A JSON value. Numbers stay text: nothing here computes with them.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written.
    Number(String),
    /// A string, unescaped.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Map(BTreeMap<String, Json>),
}

impl Json {
    /// Parses a whole text; `None` when it is not JSON.
    pub fn parse(text: &str) -> Option<Json> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value()?;
        reader.blank();
        (reader.at == reader.bytes.len()).then_some(value)
    }

    /// A member of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Map(map) => map.get(key),
            _ => None,
        }
    }

    /// A member of an object, as text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// The text as a JSON string, with its quotes.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, token: &str) -> Option<()> {
        self.blank();
        let end = self.at + token.len();
        (self.bytes.get(self.at..end)? == token.as_bytes()).then(|| self.at = end)
    }

    fn value(&mut self) -> Option<Json> {
        self.blank();
        match self.peek()? {
            b'{' => self.map(),
            b'[' => self.list(),
            b'"' => self.string().map(Json::Text),
            b't' => self.eat("true").map(|()| Json::Bool(true)),
            b'f' => self.eat("false").map(|()| Json::Bool(false)),
            b'n' => self.eat("null").map(|()| Json::Null),
            _ => self.number(),
        }
    }

    fn map(&mut self) -> Option<Json> {
        let mut map = BTreeMap::new();
        self.eat("{")?;
        if self.eat("}").is_some() {
            return Some(Json::Map(map));
        }
        loop {
            self.blank();
            let key = self.string()?;
            self.eat(":")?;
            map.insert(key, self.value()?);
            if self.eat(",").is_none() {
                return self.eat("}").map(|()| Json::Map(map));
            }
        }
    }

    fn list(&mut self) -> Option<Json> {
        let mut list = Vec::new();
        self.eat("[")?;
        if self.eat("]").is_some() {
            return Some(Json::List(list));
        }
        loop {
            list.push(self.value()?);
            if self.eat(",").is_none() {
                return self.eat("]").map(|()| Json::List(list));
            }
        }
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).ok()?;
        text.parse::<f64>().ok().map(|_| Json::Number(text.to_owned()))
    }

    fn string(&mut self) -> Option<String> {
        self.eat("\"")?;
        let mut out = Vec::new();
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(out).ok(),
                b'\\' => {
                    let c = self.escape()?;
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
                other => out.push(other),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let high = self.hex4()?;
                if !(0xd800..0xdc00).contains(&high) {
                    return char::from_u32(high);
                }
                self.eat("\\u")?;
                let low = self.hex4()?;
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + low.checked_sub(0xdc00)?)?
            }
            other => other as char,
        })
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_cargo_message() {
        let line = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"a"},
            "profile":{"test":true,"opt":2},"executable":"C:\\t\\a\u00e9\ud83d\ude00","x":null}"#;
        let json = Json::parse(line).unwrap();
        assert_eq!(json.text("reason"), Some("compiler-artifact"));
        assert_eq!(json.get("target").unwrap().text("name"), Some("a"));
        assert_eq!(json.get("profile").unwrap().get("test"), Some(&Json::Bool(true)));
        assert_eq!(json.text("executable"), Some("C:\\t\\a\u{e9}\u{1f600}"));
        assert_eq!(json.get("x"), Some(&Json::Null));
    }

    #[test]
    fn refuses_what_is_not_json() {
        for bad in ["", "{", "{\"a\":}", "[1,]", "\"open", "{} {}", "nul", "\"\\ud83d\""] {
            assert_eq!(Json::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn quoting_reads_back() {
        let text = "a \"b\" \\ \n \u{1} é";
        assert_eq!(Json::parse(&quote(text)), Some(Json::Text(text.to_owned())));
    }
}
