//! Splits Rust source into code and comments, line by line.
//!
//! Strings and characters are blanked in the code, so that a search for a word never finds it in
//! a literal. Not a parser: it knows only what starts and ends comments and literals.

/// A source text, split. All vectors have one entry per line and equal columns.
#[derive(Debug, Default)]
pub struct Split {
    /// The code; comments and the insides of literals are spaces.
    pub code: Vec<String>,
    /// The comments, with their marks; everything else is spaces.
    pub comments: Vec<String>,
}

/// Splits a source text.
pub fn split(text: &str) -> Split {
    let mut lexer = Lexer { chars: text.chars().collect(), at: 0, out: Split::default() };
    lexer.out.code.push(String::new());
    lexer.out.comments.push(String::new());
    lexer.run();
    lexer.out
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    out: Split,
}

#[derive(Clone, Copy)]
enum Kind {
    Code,
    Comment,
    Literal,
}

impl Lexer {
    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', _) if self.raw_hashes().is_some() => self.raw_string(),
                ('\'', _) => self.quote(),
                _ => self.take(Kind::Code),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self, kind: Kind) {
        let c = self.chars[self.at];
        self.at += 1;
        if c == '\n' {
            self.out.code.push(String::new());
            self.out.comments.push(String::new());
            return;
        }
        let (code, comment) = match kind {
            Kind::Code => (c, ' '),
            Kind::Comment => (' ', c),
            Kind::Literal => (' ', ' '),
        };
        for (lines, c) in [(&mut self.out.code, code), (&mut self.out.comments, comment)] {
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
        }
    }

    fn take_n(&mut self, n: usize, kind: Kind) {
        for _ in 0..n.min(self.chars.len() - self.at) {
            self.take(kind);
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.take(Kind::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.take_n(2, Kind::Comment);
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.take_n(2, Kind::Comment);
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.take(Kind::Comment),
            }
        }
    }

    fn string(&mut self) {
        self.take(Kind::Code);
        loop {
            match self.peek(0) {
                None => return,
                Some('\\') => self.take_n(2, Kind::Literal),
                Some('"') => return self.take(Kind::Code),
                Some(_) => self.take(Kind::Literal),
            }
        }
    }

    /// The number of `#` when a raw string starts here.
    fn raw_hashes(&self) -> Option<usize> {
        let word = |i: usize| self.chars[i].is_alphanumeric() || self.chars[i] == '_';
        let prefixed = self.at >= 1 && matches!(self.chars[self.at - 1], 'b' | 'c');
        let start = if prefixed { self.at - 1 } else { self.at };
        if start >= 1 && word(start - 1) {
            return None;
        }
        let hashes = self.chars[self.at + 1..].iter().take_while(|c| **c == '#').count();
        (self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_hashes().unwrap_or(0);
        self.take_n(2 + hashes, Kind::Code);
        while self.at < self.chars.len() {
            let closes = self.peek(0) == Some('"')
                && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if closes {
                return self.take_n(1 + hashes, Kind::Code);
            }
            self.take(Kind::Literal);
        }
    }

    /// A character literal, or the mark of a lifetime.
    fn quote(&mut self) {
        if self.peek(1) == Some('\\') {
            self.take_n(3, Kind::Literal);
            while self.peek(0).is_some_and(|c| c != '\'' && c != '\n') {
                self.take(Kind::Literal);
            }
            self.take_n(1, Kind::Literal);
        } else if self.peek(2) == Some('\'') {
            self.take_n(3, Kind::Literal);
        } else {
            self.take(Kind::Code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, code: &str, comments: &str) {
        let split = split(source);
        let tight = |lines: &[String]| {
            let words: Vec<_> = lines.iter().flat_map(|l| l.split_whitespace()).collect();
            words.join(" ")
        };
        assert_eq!(tight(&split.code), code);
        assert_eq!(tight(&split.comments), comments);
        assert_eq!(split.code.len(), source.split('\n').count());
        for ((a, b), line) in split.code.iter().zip(&split.comments).zip(source.split('\n')) {
            assert_eq!(a.chars().count(), line.chars().count());
            assert_eq!(b.chars().count(), line.chars().count());
        }
    }

    #[test]
    fn comments_are_told_from_code() {
        check("a // b\nc /* d /* e */ f */ g", "a c g", "// b /* d /* e */ f */");
        check("/// doc\nfn x() {}", "fn x() {}", "/// doc");
    }

    #[test]
    fn literals_are_blanked() {
        check("f(\"// no \\\" no\") // yes", "f(\" \")", "// yes");
        check("r#\"a \" // b\"# x", "r#\" \"# x", "");
        check("br\"\\\" // c", "br\" \"", "// c");
        check("let r#fn = var\"x\";", "let r#fn = var\" \";", "");
        check("'\"' '\\'' '\\u{41}' &'a str // t", "&'a str", "// t");
        check("\"two\nlines // no\" y", "\" \" y", "");
    }
}
