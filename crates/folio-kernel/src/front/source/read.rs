//! Reads what the macro has written: words, each with a space after it, of what a node is made of
//! and then of the node. A node that was read waits in a list until the node comes that it is a
//! part of, and no reader calls another: bodies may be as deep as compilers take them. Text that
//! the macro does not write is an error.

use super::Text;
use super::lower::LowerError;
use super::tree::{At, Block, Counted, Expr, Pattern, Statement};
use crate::op::Fold;
use std::rc::Rc;
use std::str::FromStr;

type Result<T> = std::result::Result<T, LowerError>;

const WRONG: LowerError = LowerError::Unsupported("what the macro has not written");

impl Text {
    /// The body.
    pub(super) fn read(&self) -> Result<Block> {
        let mut reader = Reader { left: self.0, parts: vec![] };
        while !reader.left.is_empty() {
            let part = reader.node()?;
            reader.parts.push(part);
        }
        let body = reader.block()?;
        if reader.parts.is_empty() { Ok(body) } else { Err(WRONG) }
    }
}

/// A part that waits for its node.
enum Part {
    Expr(Expr),
    Let(Pattern, Expr),
    Pattern(Pattern),
    Block(Block),
}

struct Reader {
    left: &'static str,
    parts: Vec<Part>,
}

impl Reader {
    fn word(&mut self) -> Result<&'static str> {
        let (word, left) = self.left.split_once(' ').ok_or(WRONG)?;
        self.left = left;
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

    /// A text of the user.
    fn text(&mut self) -> Result<&'static str> {
        let len: usize = self.number()?;
        let (text, left) = self.left.split_at_checked(len).ok_or(WRONG)?;
        self.left = left.strip_prefix(' ').ok_or(WRONG)?;
        Ok(text)
    }

    /// The entry of an operator.
    fn entry(&mut self) -> Result<Option<u16>> {
        match self.word()? {
            "-" => Ok(None),
            entry => entry.parse().map(Some).map_err(|_| WRONG),
        }
    }

    /// There is such a part.
    fn is_there(&mut self) -> Result<bool> {
        match self.word()? {
            "-" => Ok(false),
            "+" => Ok(true),
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

    /// The last part.
    fn expr(&mut self) -> Result<Expr> {
        match self.parts.pop() {
            Some(Part::Expr(expr)) => Ok(expr),
            _ => Err(WRONG),
        }
    }

    fn boxed(&mut self) -> Result<Box<Expr>> {
        self.expr().map(Box::new)
    }

    fn maybe(&mut self) -> Result<Option<Box<Expr>>> {
        if self.is_there()? { self.boxed().map(Some) } else { Ok(None) }
    }

    fn block(&mut self) -> Result<Block> {
        match self.parts.pop() {
            Some(Part::Block(block)) => Ok(block),
            _ => Err(WRONG),
        }
    }

    fn pattern(&mut self) -> Result<Pattern> {
        match self.parts.pop() {
            Some(Part::Pattern(pattern)) => Ok(pattern),
            _ => Err(WRONG),
        }
    }

    /// The last parts, as many as the next word says.
    fn list<T>(&mut self, each: impl Fn(Part) -> Result<T>) -> Result<Vec<T>> {
        let len: usize = self.number()?;
        let from = self.parts.len().checked_sub(len).ok_or(WRONG)?;
        self.parts.drain(from..).map(each).collect()
    }

    fn exprs(&mut self) -> Result<Vec<Expr>> {
        self.list(|part| match part {
            Part::Expr(expr) => Ok(expr),
            _ => Err(WRONG),
        })
    }

    /// The next node, of the last parts.
    fn node(&mut self) -> Result<Part> {
        match self.word()? {
            "name" => Ok(Part::Pattern(Pattern::Local(self.number()?, false))),
            "mut" => Ok(Part::Pattern(Pattern::Local(self.number()?, true))),
            "_" => Ok(Part::Pattern(Pattern::Wild)),
            "names" => {
                let names = self.list(|part| match part {
                    Part::Pattern(pattern) => Ok(pattern),
                    _ => Err(WRONG),
                });
                Ok(Part::Pattern(Pattern::Tuple(names?)))
            }
            "let" => {
                let value = self.expr()?;
                Ok(Part::Let(self.pattern()?, value))
            }
            "body" => self.body(),
            "if" => self.branch(),
            "for" => self.counted(),
            name => self.expr_of(name).map(Part::Expr),
        }
    }

    fn body(&mut self) -> Result<Part> {
        let len: usize = self.number()?;
        let tail = self.maybe()?;
        let from = self.parts.len().checked_sub(len).ok_or(WRONG)?;
        let statements = self.parts.drain(from..).map(|part| match part {
            Part::Expr(expr) => Ok(Statement::Expr(expr)),
            Part::Let(pattern, value) => Ok(Statement::Let(pattern, value)),
            _ => Err(WRONG),
        });
        Ok(Part::Block(Block { statements: statements.collect::<Result<_>>()?, tail }))
    }

    /// An `if`. With an `else` of nothing but another one it is one more link of that.
    fn branch(&mut self) -> Result<Part> {
        let otherwise = if self.is_there()? { Some(self.block()?) } else { None };
        let then = self.block()?;
        let link = (self.expr()?, then);
        let (mut links, otherwise) = match otherwise {
            Some(Block { statements, tail: Some(tail) }) if statements.is_empty() => match *tail {
                Expr::If(links, otherwise) => (links, otherwise),
                other => (vec![], Some(Block { statements, tail: Some(Box::new(other)) })),
            },
            other => (vec![], other),
        };
        links.push(link);
        Ok(Part::Expr(Expr::If(links, otherwise)))
    }

    fn counted(&mut self) -> Result<Part> {
        let (number, inclusive, reversed) = (self.number()?, self.flag()?, self.flag()?);
        let stepped = self.is_there()?;
        let body = self.block()?;
        let step = if stepped { Some(self.expr()?) } else { None };
        let (end, start) = (self.expr()?, self.expr()?);
        let pattern = self.pattern()?;
        let counted = Counted { pattern, start, end, inclusive, reversed, step };
        Ok(Part::Expr(Expr::For(number, Box::new(counted), body)))
    }

    fn expr_of(&mut self, name: &str) -> Result<Expr> {
        Ok(match name {
            "unit" => Expr::Unit,
            "number" => Expr::Number(self.word()?, self.number()?),
            "bool" => Expr::Bool(self.flag()?),
            "local" => Expr::Local(self.number()?),
            "const" => Expr::Const(self.number()?),
            "binary" => {
                let (b, a) = (self.boxed()?, self.boxed()?);
                Expr::Binary(self.word()?, a, b, self.entry()?, self.at()?)
            }
            "unary" => Expr::Unary(self.number()?, self.boxed()?, self.entry()?),
            "cast" => Expr::Cast(self.boxed()?, self.number()?),
            "from_bits" => Expr::FromBits(self.boxed()?, self.number()?),
            "method" => {
                let (name, given) = (self.word()?, self.exprs()?);
                Expr::Method(self.boxed()?, name, given, self.at()?)
            }
            "call" => Expr::Call(self.number()?, self.exprs()?),
            "closure" => {
                let gives = self.expr()?;
                Expr::Closure(Rc::new((self.pattern()?, gives)))
            }
            "apply" => Expr::Apply(self.number()?, self.exprs()?),
            "field" => Expr::Field(self.boxed()?, self.word()?),
            "index" => {
                let (index, of) = (self.boxed()?, self.boxed()?);
                Expr::Index(of, index, self.at()?)
            }
            "tuple" => Expr::Tuple(self.exprs()?),
            "struct" => {
                let (entry, values) = (self.number()?, self.exprs()?);
                let fields = values.into_iter().map(|value| Ok((self.word()?, value)));
                Expr::Struct(entry, fields.collect::<Result<_>>()?)
            }
            "array" => Expr::Array(self.exprs()?),
            "repeat" => Expr::Repeat(self.boxed()?, self.number()?),
            "block" => Expr::Block(self.block()?),
            "scope" => Expr::Scope(self.number()?, self.block()?),
            "assign" => {
                let (value, to) = (self.boxed()?, self.boxed()?);
                Expr::Assign(to, value, self.at()?)
            }
            "assign_op" => {
                let (by, to) = (self.boxed()?, self.boxed()?);
                Expr::AssignOp(self.word()?, to, by, self.entry()?, self.at()?)
            }
            "while" => {
                let body = self.block()?;
                Expr::While(self.number()?, self.boxed()?, body)
            }
            "loop" => Expr::Loop(self.number()?, self.block()?),
            "break" => Expr::Break(self.number()?, self.maybe()?),
            "continue" => Expr::Continue(self.number()?),
            "return" => Expr::Return(self.maybe()?),
            "assert" => Expr::Assert(self.boxed()?, self.text()?, self.at()?),
            "claimed" => {
                let (own, holder, place) = (self.boxed()?, self.boxed()?, self.boxed()?);
                Expr::Claimed(place, holder, own, self.at()?)
            }
            "panic" => Expr::Panic(self.text()?, self.at()?),
            "each" => Expr::Each(self.number()?, self.boxed()?),
            "once" => Expr::Once(self.boxed()?),
            "collect" => Expr::Collect(self.fold()?, self.number()?, self.number()?, self.boxed()?),
            "subgroup" => Expr::SubgroupFold(self.fold()?, self.number()?, self.boxed()?),
            "private" => Expr::Private(self.boxed()?),
            "fill" => {
                let (value, array) = (self.boxed()?, self.boxed()?);
                Expr::Fill(array, self.number()?, value)
            }
            "tile" => Expr::Tile(self.number()?, self.maybe()?),
            "tile_of" => {
                let (index, view) = (self.boxed()?, self.boxed()?);
                Expr::TileOf(view, index, self.number()?, self.flag()?)
            }
            "tile_fold" => Expr::TileFold(self.boxed()?, self.number()?, self.flag()?),
            _ => return Err(WRONG),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that there is.
    const ALL: &str = "name 1 unit let mut 2 number -1.5 3 let _ bool 1 let _ name 4 names 2 local 5 let const 6 \
        local 1 local 2 binary + - 3 4 local 1 unary ! 7 local 1 cast 8 local 1 from_bits 9 \
        local 1 local 2 method min 1 5 6 local 2 unit call 10 2 local 1 field x local 1 local 2 index 7 8 \
        unit tuple 1 unit unit struct 11 2 y z unit array 1 unit repeat 12 \
        bool 1 body 0 - bool 0 unit body 1 - unit body 0 + if + body 0 + if + \
        body 0 - block body 0 - scope 1 local 1 unit assign 9 10 local 1 unit assign_op * 13 1 2 \
        bool 1 body 0 - while 2 body 0 - loop 3 \
        name 3 number 0 1 number 9 1 number 2 1 body 0 - for 4 1 0 + unit break 4 + continue 4 return - \
        bool 1 assert 6 a b  c 1 2 panic 0  3 4 unit each 5 unit once \
        unit collect Reduce 1 2 unit subgroup Inclusive 1 unit private local 1 unit fill 2 tile 1 - unit unit tile_of 1 1 \
        unit tile_fold 1 0 tuple 7 body 32 + ";

    #[test]
    fn all_that_is_written_is_read() {
        let block = Text(ALL).read().unwrap();
        let chains = block.statements.iter().filter_map(|statement| match statement {
            Statement::Expr(Expr::If(links, otherwise)) => {
                let tests: Vec<_> = links.iter().map(|(test, _)| format!("{test:?}")).collect();
                Some((tests, otherwise.is_some()))
            }
            _ => None,
        });
        let tests = ["Bool(false)", "Bool(true)"].map(str::to_owned).to_vec();
        assert_eq!(chains.collect::<Vec<_>>(), [(tests, true)]);
        let said = block.statements.iter().find_map(|statement| match statement {
            Statement::Expr(Expr::Assert(_, text, at)) => Some((*text, *at)),
            _ => None,
        });
        assert_eq!(said, Some(("a b  c", (1, 2))));
    }

    /// Each beginning of it is an error, and each word that is another one is an error or another
    /// body.
    #[test]
    fn what_nobody_has_written_is_an_error() {
        for at in 0..ALL.len() {
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
        const LINKS: usize = 100_000;
        let tests = "bool 1 body 0 - ".repeat(LINKS);
        let links = "if + body 0 + ".repeat(LINKS);
        let block = Text(format!("{tests}unit body 0 + {links}").leak()).read().unwrap();
        let Some(Expr::If(links, Some(_))) = block.tail.as_deref() else { panic!("no chain") };
        assert_eq!(links.len(), LINKS);
    }

    /// Readers do not call each other.
    #[test]
    fn bodies_are_deep() {
        const DEPTH: usize = 10_000;
        let text = format!("unit {}body 0 + ", "unit binary + - 1 1 ".repeat(DEPTH));
        let read = move || drop(Text(text.leak()).read().unwrap());
        std::thread::Builder::new().stack_size(2 << 20).spawn(read).unwrap().join().unwrap();
    }
}
