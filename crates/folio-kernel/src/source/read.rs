//! Reads what the macro has written: words, each with a space after it. What is not of the macro is an error.

use super::Text;
use super::lower::LowerError;
use super::tree::{At, Block, Counted, Expr, Pattern, Statement};
use crate::op::Fold;
use std::str::FromStr;

type Result<T> = std::result::Result<T, LowerError>;

const WRONG: LowerError = LowerError::Unsupported("what the macro has not written");

impl Text {
    /// The body.
    pub(super) fn read(&self) -> Result<Block> {
        let mut words = Words(self.0);
        let block = words.block()?;
        if words.0.is_empty() { Ok(block) } else { Err(WRONG) }
    }
}

/// What is left to read.
struct Words(&'static str);

impl Words {
    fn word(&mut self) -> Result<&'static str> {
        let (word, left) = self.0.split_once(' ').ok_or(WRONG)?;
        self.0 = left;
        Ok(word)
    }

    fn number<T: FromStr>(&mut self) -> Result<T> {
        self.word()?.parse().map_err(|_| WRONG)
    }

    fn flag(&mut self) -> Result<bool> {
        Ok(self.number::<u8>()? != 0)
    }

    fn at(&mut self) -> Result<At> {
        Ok((self.number()?, self.number()?))
    }

    /// What users have written.
    fn text(&mut self) -> Result<&'static str> {
        let len: usize = self.number()?;
        let (text, left) = self.0.split_at_checked(len).ok_or(WRONG)?;
        self.0 = left.strip_prefix(' ').ok_or(WRONG)?;
        Ok(text)
    }

    /// The entry of an operator.
    fn entry(&mut self) -> Result<Option<u16>> {
        match self.word()? {
            "-" => Ok(None),
            entry => entry.parse().map(Some).map_err(|_| WRONG),
        }
    }

    fn maybe<T>(&mut self, read: impl FnOnce(&mut Words) -> Result<T>) -> Result<Option<T>> {
        match self.word()? {
            "-" => Ok(None),
            "+" => read(self).map(Some),
            _ => Err(WRONG),
        }
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Words) -> Result<T>) -> Result<Vec<T>> {
        let len = self.number()?;
        // No more than there is text for: nobody makes room for a wrong number.
        (0..len).map(|_| read(self)).collect()
    }

    fn part(&mut self) -> Result<Box<Expr>> {
        self.expr().map(Box::new)
    }

    fn block(&mut self) -> Result<Block> {
        Ok(Block { statements: self.list(Words::statement)?, tail: self.maybe(Words::part)? })
    }

    fn statement(&mut self) -> Result<Statement> {
        match self.0.strip_prefix("let ") {
            Some(left) => {
                self.0 = left;
                Ok(Statement::Let(self.pattern()?, self.expr()?))
            }
            None => self.expr().map(Statement::Expr),
        }
    }

    fn pattern(&mut self) -> Result<Pattern> {
        match self.word()? {
            "name" => Ok(Pattern::Local(self.number()?, false)),
            "mut" => Ok(Pattern::Local(self.number()?, true)),
            "_" => Ok(Pattern::Wild),
            "tuple" => self.list(Words::pattern).map(Pattern::Tuple),
            _ => Err(WRONG),
        }
    }

    fn fold(&mut self) -> Result<Fold> {
        match self.word()? {
            "Reduce" => Ok(Fold::Reduce),
            "Inclusive" => Ok(Fold::Inclusive),
            "Exclusive" => Ok(Fold::Exclusive),
            _ => Err(WRONG),
        }
    }

    fn expr(&mut self) -> Result<Expr> {
        Ok(match self.word()? {
            "unit" => Expr::Unit,
            "number" => Expr::Number(self.word()?, self.number()?),
            "bool" => Expr::Bool(self.flag()?),
            "local" => Expr::Local(self.number()?),
            "const" => Expr::Const(self.number()?),
            "binary" => {
                let (op, a, b) = (self.word()?, self.part()?, self.part()?);
                Expr::Binary(op, a, b, self.entry()?, self.at()?)
            }
            "unary" => {
                let (op, a) = (self.number()?, self.part()?);
                Expr::Unary(op, a, self.entry()?)
            }
            "cast" => Expr::Cast(self.part()?, self.number()?),
            "from_bits" => Expr::FromBits(self.part()?, self.number()?),
            "method" => {
                let (of, name) = (self.part()?, self.word()?);
                Expr::Method(of, name, self.list(Words::expr)?, self.at()?)
            }
            "call" => Expr::Call(self.number()?, self.list(Words::expr)?),
            "field" => Expr::Field(self.part()?, self.word()?),
            "index" => Expr::Index(self.part()?, self.part()?, self.at()?),
            "tuple" => Expr::Tuple(self.list(Words::expr)?),
            "struct" => {
                let field = |words: &mut Words| Ok((words.word()?, words.expr()?));
                Expr::Struct(self.number()?, self.list(field)?)
            }
            "array" => Expr::Array(self.list(Words::expr)?),
            "repeat" => Expr::Repeat(self.part()?, self.number()?),
            "if" => return self.branch(),
            "block" => Expr::Block(self.block()?),
            "scope" => Expr::Scope(self.number()?, self.block()?),
            "assign" => Expr::Assign(self.part()?, self.part()?, self.at()?),
            "assign_op" => {
                let (op, to, by) = (self.word()?, self.part()?, self.part()?);
                Expr::AssignOp(op, to, by, self.entry()?, self.at()?)
            }
            "while" => Expr::While(self.number()?, self.part()?, self.block()?),
            "loop" => Expr::Loop(self.number()?, self.block()?),
            "for" => return self.counted(),
            "break" => Expr::Break(self.number()?, self.maybe(Words::part)?),
            "continue" => Expr::Continue(self.number()?),
            "return" => Expr::Return(self.maybe(Words::part)?),
            "assert" => Expr::Assert(self.part()?, self.text()?, self.at()?),
            "panic" => Expr::Panic(self.text()?, self.at()?),
            "each" => Expr::Each(self.number()?, self.part()?),
            "once" => Expr::Once(self.part()?),
            "collect" => Expr::Collect(self.fold()?, self.number()?, self.number()?, self.part()?),
            "subgroup" => Expr::SubgroupFold(self.fold()?, self.number()?, self.part()?),
            "private" => Expr::Private(self.part()?),
            "fill" => Expr::Fill(self.part()?, self.number()?, self.part()?),
            _ => return Err(WRONG),
        })
    }

    /// An `if`, with every `else if` after it: chains may be long, and are in each other in the text.
    fn branch(&mut self) -> Result<Expr> {
        let mut links = vec![(self.expr()?, self.block()?)];
        loop {
            match self.word()? {
                "-" => return Ok(Expr::If(links, None)),
                "+" => {}
                _ => return Err(WRONG),
            }
            // A block of nothing but an `if`.
            let Some(left) = self.0.strip_prefix("0 + if ") else {
                return Ok(Expr::If(links, Some(self.block()?)));
            };
            self.0 = left;
            links.push((self.expr()?, self.block()?));
        }
    }

    fn counted(&mut self) -> Result<Expr> {
        let number = self.number()?;
        let counted = Counted {
            pattern: self.pattern()?,
            start: self.expr()?,
            end: self.expr()?,
            inclusive: self.flag()?,
            reversed: self.flag()?,
            step: self.maybe(Words::expr)?,
        };
        Ok(Expr::For(number, Box::new(counted), self.block()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that there is.
    const ALL: &str = "32 let name 1 unit let mut 2 number -1.5 3 let _ bool 1 let tuple 2 _ name 4 local 5 const 6 \
        binary + local 1 local 2 - 3 4 unary ! local 1 7 cast local 1 8 from_bits local 1 9 \
        method local 1 min 1 local 2 5 6 call 10 2 local 1 unit field local 1 x index local 1 local 2 7 8 \
        tuple 1 unit struct 11 1 y unit array 1 unit repeat unit 12 \
        if bool 1 0 - + 0 + if bool 0 1 unit - + 0 + unit block 0 - scope 1 0 - assign local 1 unit 9 10 \
        assign_op * local 1 unit 13 1 2 while 2 bool 1 0 - loop 3 0 - \
        for 4 name 3 number 0 1 number 9 1 1 0 + number 2 1 0 - break 4 + unit continue 4 return - \
        assert bool 1 6 a b  c 1 2 panic 0  3 4 each 5 unit once unit \
        + tuple 4 collect Reduce 1 2 unit subgroup Inclusive 1 unit private unit fill local 1 2 unit ";

    #[test]
    fn all_that_is_written_is_read() {
        let block = Text(ALL).read().unwrap();
        let chains = block.statements.iter().filter_map(|statement| match statement {
            Statement::Expr(Expr::If(links, otherwise)) => Some((links.len(), otherwise.is_some())),
            _ => None,
        });
        assert_eq!(chains.collect::<Vec<_>>(), [(2, true)]);
        let said = block.statements.iter().find_map(|statement| match statement {
            Statement::Expr(Expr::Assert(_, text, at)) => Some((*text, *at)),
            _ => None,
        });
        assert_eq!(said, Some(("a b  c", (1, 2))));
    }

    /// Each part of it that is shorter, and each word that is another one, is an error or another body.
    #[test]
    fn what_nobody_has_written_is_an_error() {
        for at in (0..ALL.len()).filter(|at| ALL.is_char_boundary(*at)) {
            assert_eq!(Text(&ALL[..at]).read().unwrap_err(), WRONG, "{}", &ALL[..at]);
        }
        let words: Vec<_> = ALL.split_inclusive(' ').collect();
        for at in 0..words.len() {
            for other in ["", "if ", "- ", "+ ", "18446744073709551615 ", "x ", "0 "] {
                let mut words = words.clone();
                words[at] = other;
                let _ = Text(words.concat().leak()).read();
            }
        }
    }

    /// However long a chain is, it is one `if`.
    #[test]
    fn chains_are_long() {
        let links = "if bool 1 0 - + 0 + ".repeat(100_000);
        let block = Text(format!("0 + {links}unit ").leak()).read().unwrap();
        let Some(Expr::If(links, Some(_))) = block.tail.as_deref() else { panic!("no chain") };
        assert_eq!(links.len(), 100_000);
    }
}
