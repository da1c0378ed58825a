//! A body in words, which `folio_kernel::source` reads again: what a node is made of, then its name
//! and what else it has. As a text, since rustc takes longer to check nested values than all else
//! that is written here.

use std::fmt::{Display, Write};

/// A node, or what begins one.
#[derive(Clone, Debug)]
pub struct Tree {
    /// All of its parts, in order.
    parts: String,
    /// The node's own words. Each word ends with a space.
    words: String,
}

impl Tree {
    /// A node of this name.
    pub fn of(name: &str) -> Tree {
        Tree { parts: String::new(), words: String::new() }.word(name)
    }

    /// `()`
    pub fn unit() -> Tree {
        Tree::of("unit")
    }

    /// A local variable.
    pub fn local(number: u16) -> Tree {
        Tree::of("local").word(number)
    }

    /// A constant's entry.
    pub fn constant(entry: u16) -> Tree {
        Tree::of("const").word(entry)
    }

    /// A number of this type.
    pub fn number(digits: &str, entry: u16) -> Tree {
        Tree::of("number").word(digits).word(entry)
    }

    pub fn bool(value: bool) -> Tree {
        Tree::of("bool").flag(value)
    }

    /// An operator of numbers, which is nowhere in the source.
    pub fn binary(op: &str, a: &Tree, b: &Tree) -> Tree {
        Tree::of("binary").word(op).part(a).part(b).entry(None).at((0, 0))
    }

    /// A call of a method.
    pub fn method(of: &Tree, name: &str, given: &[Tree], at: (u32, u32)) -> Tree {
        Tree::of("method").part(of).word(name).parts(given).at(at)
    }

    /// `if` of blocks.
    pub fn branch(cond: &Tree, then: &Tree, otherwise: Option<&Tree>) -> Tree {
        Tree::of("if").part(cond).part(then).maybe(otherwise)
    }

    /// A block.
    pub fn block(statements: &[Tree], tail: Option<&Tree>) -> Tree {
        Tree::of("body").parts(statements).maybe(tail)
    }

    /// A block that gives this.
    pub fn gives(tree: &Tree) -> Tree {
        Tree::block(&[], Some(tree))
    }

    /// A block, as an expression.
    pub fn of_block(block: &Tree) -> Tree {
        Tree::of("block").part(block)
    }

    /// `let` of one variable that does not change.
    pub fn bound(number: u16, value: &Tree) -> Tree {
        Tree::of("let").part(&Tree::of("name").word(number)).part(value)
    }

    /// A name, a number, an operator: nothing with a space.
    pub fn word(mut self, word: impl Display) -> Tree {
        // Texts take everything.
        let _ = write!(self.words, "{word} ");
        self
    }

    pub fn flag(self, flag: bool) -> Tree {
        self.word(u8::from(flag))
    }

    /// An entry of the table, if there is one.
    pub fn entry(self, entry: Option<u16>) -> Tree {
        match entry {
            Some(entry) => self.word(entry),
            None => self.word('-'),
        }
    }

    pub fn at(self, (line, column): (u32, u32)) -> Tree {
        self.word(line).word(column)
    }

    /// Whatever the user has written.
    pub fn said(self, text: &str) -> Tree {
        self.word(text.len()).word(text)
    }

    pub fn part(mut self, part: &Tree) -> Tree {
        self.parts.push_str(&part.parts);
        self.parts.push_str(&part.words);
        self
    }

    pub fn parts(self, parts: &[Tree]) -> Tree {
        parts.iter().fold(self.word(parts.len()), Tree::part)
    }

    pub fn maybe(self, part: Option<&Tree>) -> Tree {
        match part {
            Some(part) => self.word('+').part(part),
            None => self.word('-'),
        }
    }

    /// All of it.
    pub fn text(self) -> String {
        self.parts + &self.words
    }
}
