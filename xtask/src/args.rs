//! Command-line words: flags, values, and whatever is left.

use crate::Result;

/// The words after the command's name; each query takes out what it finds.
pub struct Args {
    words: Vec<String>,
}

impl Args {
    /// Takes the words in order.
    pub fn new(words: impl IntoIterator<Item = String>) -> Args {
        Args { words: words.into_iter().collect() }
    }

    /// True when help was asked for.
    pub fn wants_help(&self) -> bool {
        self.words.iter().take_while(|w| *w != "--").any(|w| w == "--help" || w == "-h")
    }

    /// True when the flag is there.
    pub fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|w| w != name);
        self.words.len() != before
    }

    /// Every value given as `--name value` or `--name=value`.
    pub fn values(&mut self, name: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut rest = Vec::new();
        let mut words = std::mem::take(&mut self.words).into_iter();
        while let Some(word) = words.next() {
            if word == name {
                let value = words.next().filter(|v| !v.starts_with("--"));
                found.push(value.ok_or_else(|| format!("{name} needs a value"))?);
            } else if let Some(value) =
                word.strip_prefix(name).and_then(|tail| tail.strip_prefix('='))
            {
                found.push(value.to_owned());
            } else {
                rest.push(word);
            }
        }
        self.words = rest;
        Ok(found)
    }

    /// The last value given for the name.
    pub fn value(&mut self, name: &str) -> Result<Option<String>> {
        Ok(self.values(name)?.pop())
    }

    /// The last value given for the name, as a number.
    pub fn number(&mut self, name: &str) -> Result<Option<u64>> {
        let Some(text) = self.value(name)? else { return Ok(None) };
        let plain: String = text.chars().filter(|c| *c != '_').collect();
        plain.parse().map(Some).map_err(|_| format!("{name} takes a number, not '{text}'"))
    }

    /// The words after `--`, of whatever kind.
    pub fn after_dashes(&mut self) -> Vec<String> {
        let Some(at) = self.words.iter().position(|w| w == "--") else { return Vec::new() };
        let rest = self.words.split_off(at);
        rest.into_iter().skip(1).collect()
    }

    /// All that is left, for another program.
    pub fn rest(self) -> Vec<String> {
        self.words
    }

    /// The remaining plain words. An unknown option is an error.
    pub fn finish(self) -> Result<Vec<String>> {
        match self.words.iter().find(|w| w.starts_with('-')) {
            Some(word) => Err(format!("no option '{word}' (see --help)")),
            None => Ok(self.words),
        }
    }

    /// For commands that take no plain words.
    pub fn finish_empty(self) -> Result<()> {
        match self.finish()?.first() {
            Some(word) => Err(format!("unexpected '{word}' (see --help)")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Args {
        Args::new(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn takes_flags_values_and_words() {
        let mut a = args("--setup --require cpu name --require=opencl");
        assert!(a.flag("--setup"));
        assert!(!a.flag("--setup"));
        assert_eq!(a.values("--require"), Ok(vec!["cpu".to_owned(), "opencl".to_owned()]));
        assert_eq!(a.finish(), Ok(vec!["name".to_owned()]));
    }

    #[test]
    fn words_after_dashes_are_another_program_s() {
        let mut a = args("file -- run --help -- it");
        assert!(!a.wants_help());
        assert_eq!(a.after_dashes(), ["run", "--help", "--", "it"]);
        assert_eq!(a.after_dashes(), [""; 0]);
        assert_eq!(a.finish(), Ok(vec!["file".to_owned()]));
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(args("--require").values("--require").is_err());
        assert!(args("--require --setup").values("--require").is_err());
        assert!(args("--cases many").number("--cases").is_err());
        assert_eq!(args("--cases 1_000").number("--cases"), Ok(Some(1000)));
        assert!(args("--typo").finish().is_err());
        assert!(args("word").finish_empty().is_err());
    }
}
