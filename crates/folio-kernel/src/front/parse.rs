//! Reads the text form.

use crate::ir::{
    Access, Body, Collision, Corner, Hop, Kernel, Label, Let, Owner, Param, ParamId, ParamKind,
    Place, Product, Root, Shape, Site, SiteId, Stmt, Value, VarDecl, VarId,
};
use crate::op::{Atomic, Binary, Combine, Compare, Fold, Op, Query, Subgroup, Unary};
use crate::types::{Composite, Field, Scalar, Struct, Type, Types};

/// Why a text is no kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {wanted}, found `{found}`")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The expected text.
    pub wanted: &'static str,
    /// The text that is there.
    pub found: String,
}

type Result<T> = std::result::Result<T, ParseError>;

/// Reads a kernel. The result is well formed as text only: verify it.
pub fn parse(text: &str) -> Result<Kernel> {
    let tokens = tokens(text)?;
    Parser { tokens: &tokens, at: 0, labels: 0, values: vec![], depth: 0 }.kernel()
}

#[derive(Clone, Debug, PartialEq)]
struct Token {
    line: usize,
    /// Quoted text has its quotes taken off.
    text: String,
    quoted: bool,
}

fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = vec![];
    let mut line = 1;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut token = Token { line, text: String::new(), quoted: c == '"' };
        match c {
            '\n' => line += 1,
            c if c.is_whitespace() => {}
            '"' => {
                token.text = quoted(&mut chars).ok_or_else(|| ParseError {
                    line,
                    wanted: "a text that ends",
                    found: "\"".to_owned(),
                })?;
                tokens.push(token);
            }
            c if "{}()[],=@".contains(c) => {
                token.text.push(c);
                tokens.push(token);
            }
            c => {
                token.text.push(c);
                let word = |c: &char| !c.is_whitespace() && !"{}()[],=@\"".contains(*c);
                while let Some(next) = chars.next_if(word) {
                    token.text.push(next);
                }
                tokens.push(token);
            }
        }
    }
    Ok(tokens)
}

fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => match chars.next()? {
                '{' => {
                    let mut code = 0u32;
                    loop {
                        match chars.next()? {
                            '}' => break,
                            digit => code = code.checked_mul(16)? + digit.to_digit(16)?,
                        }
                    }
                    text.push(char::from_u32(code)?);
                }
                c => text.push(c),
            },
            c => text.push(c),
        }
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    labels: u32,
    values: Vec<Option<Type>>,
    depth: usize,
}

/// Numbers beyond this are no kernel's: a text cannot make the parser allocate more.
const MOST: u32 = 1 << 20;
/// Bodies are not deeper in each other than this, so that texts cannot exhaust the stack.
const DEEPEST: usize = 100;

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).filter(|t| !t.quoted).map_or("", |t| &t.text)
    }

    fn error<T>(&self, wanted: &'static str) -> Result<T> {
        let token = self.tokens.get(self.at);
        let line = token.or(self.tokens.last()).map_or(1, |t| t.line);
        let found = token.map_or("the end".to_owned(), |t| t.text.clone());
        Err(ParseError { line, wanted, found })
    }

    fn is(&mut self, text: &str) -> bool {
        let yes = self.peek() == text && self.at < self.tokens.len();
        self.at += usize::from(yes);
        yes
    }

    fn expect(&mut self, text: &'static str) -> Result<()> {
        if self.is(text) { Ok(()) } else { self.error(text) }
    }

    fn word<T>(&mut self, wanted: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        match read(self.peek()) {
            Some(found) => {
                self.at += 1;
                Ok(found)
            }
            None => self.error(wanted),
        }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        self.word("a number", |text| text.parse().ok())
    }

    fn text(&mut self) -> Result<String> {
        match self.tokens.get(self.at) {
            Some(token) if token.quoted => {
                self.at += 1;
                Ok(token.text.clone())
            }
            _ => self.error("a text in quotes"),
        }
    }

    /// A letter and a number.
    fn id(&mut self, letter: char, wanted: &'static str) -> Result<u32> {
        let read = |text: &str| text.strip_prefix(letter)?.parse().ok();
        self.word(wanted, read).and_then(|id| if id < MOST { Ok(id) } else { self.error(wanted) })
    }

    fn value(&mut self) -> Result<Value> {
        self.id('%', "a value").map(Value)
    }

    fn param(&mut self) -> Result<ParamId> {
        self.id('p', "a parameter").map(ParamId)
    }

    fn var(&mut self) -> Result<VarId> {
        self.id('v', "a variable").map(VarId)
    }

    fn label(&mut self) -> Result<Label> {
        let label = self.id('l', "a label")?;
        self.labels = self.labels.max(label + 1);
        Ok(Label(label))
    }

    fn scalar(&mut self) -> Result<Scalar> {
        self.word("a scalar type", Scalar::of_name)
    }

    fn ty(&mut self) -> Result<Type> {
        if let Some(scalar) = Scalar::of_name(self.peek()) {
            self.at += 1;
            return Ok(scalar.into());
        }
        self.id('t', "a type").map(Type::Composite)
    }

    /// The header of the k-th declaration of a kind.
    fn declares(&mut self, kind: &'static str, letter: char, k: usize) -> Result<bool> {
        if !self.is(kind) {
            return Ok(false);
        }
        if self.id(letter, "a declaration")? as usize != k {
            self.at -= 1;
            return self.error("declarations in order");
        }
        self.expect("=")?;
        Ok(true)
    }

    fn kernel(mut self) -> Result<Kernel> {
        self.expect("kernel")?;
        let name = self.text()?;
        let groups = self.word("`items` or `groups`", |text| match text {
            "items" => Some(false),
            "groups" => Some(true),
            _ => None,
        })?;
        let rank = self.number()?;
        self.expect("tile")?;
        let tile = self.number()?;
        let group = if self.is("group") { self.number()? } else { 0 };
        let block = match self.is("block") {
            true => [self.number()?, self.number()?, self.number()?],
            false => [0; 3],
        };
        let shape = Shape { rank, groups, group, block, tile };
        let mut types = Types::default();
        while self.declares("type", 't', types.list.len())? {
            let composite = self.composite()?;
            types.list.push(composite);
        }
        let (mut params, mut vars, mut sites) = (vec![], vec![], vec![]);
        while self.declares("param", 'p', params.len())? {
            params.push(Param { name: self.text()?, kind: self.param_kind()? });
        }
        while self.declares("var", 'v', vars.len())? {
            let uniform = self.is("uniform");
            vars.push(VarDecl { name: self.text()?, ty: self.ty()?, uniform });
        }
        while self.is("site") {
            self.expect("@")?;
            if self.number::<usize>()? != sites.len() {
                self.at -= 1;
                return self.error("declarations in order");
            }
            self.expect("=")?;
            sites.push(self.site()?);
        }
        self.expect("body")?;
        let body = self.body()?;
        if self.at < self.tokens.len() {
            return self.error("the end");
        }
        let labels = self.labels;
        // An undefined value has no type; the verifier finds its uses.
        let values = self.values.into_iter().map(|ty| ty.unwrap_or(Scalar::Bool.into())).collect();
        Ok(Kernel { name, shape, types, params, vars, sites, values, labels, body })
    }

    fn composite(&mut self) -> Result<Composite> {
        if self.is("array") {
            return Ok(Composite::Array { element: self.ty()?, len: self.number()? });
        }
        self.expect("struct")?;
        let (name, size, align) = (self.text()?, self.number()?, self.number()?);
        self.expect("(")?;
        let mut fields = vec![];
        while !self.is(")") {
            if !fields.is_empty() {
                self.expect(",")?;
            }
            fields.push(Field { name: self.text()?, ty: self.ty()?, offset: self.number()? });
        }
        Ok(Composite::Struct(Struct { name, fields, size, align }))
    }

    fn param_kind(&mut self) -> Result<ParamKind> {
        let kind = self.word("a kind of parameter", |text| Some(text.to_owned()))?;
        match kind.as_str() {
            "scalar" => Ok(ParamKind::Scalar(self.ty()?)),
            "view" => Ok(ParamKind::View {
                element: self.ty()?,
                rank: self.number()?,
                access: self.word("an access", Access::of_name)?,
                owner: self.word("an owner", Owner::of_name)?,
            }),
            "reduce" => {
                let element = self.ty()?;
                Ok(ParamKind::Reduce { element, combine: self.combine()? })
            }
            "local" => Ok(ParamKind::Local { element: self.ty()?, len: self.number()? }),
            _ => {
                self.at -= 1;
                self.error("a kind of parameter")
            }
        }
    }

    fn combine(&mut self) -> Result<Combine> {
        self.word("a combination", Combine::of_name)
    }

    fn site(&mut self) -> Result<Site> {
        let (file, line, column) = (self.text()?, self.number()?, self.number()?);
        let quoted = self.tokens.get(self.at).is_some_and(|token| token.quoted);
        let message = if quoted { Some(self.text()?) } else { None };
        Ok(Site { file, line, column, message })
    }

    fn site_id(&mut self) -> Result<Option<SiteId>> {
        if self.is("@") { Ok(Some(SiteId(self.number()?))) } else { Ok(None) }
    }

    fn body(&mut self) -> Result<Body> {
        self.expect("{")?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.error("bodies less deep");
        }
        let mut body = vec![];
        while !self.is("}") {
            body.push(self.stmt()?);
        }
        self.depth -= 1;
        Ok(body)
    }

    fn define(&mut self, value: Value, ty: Type) {
        if self.values.len() <= value.index() {
            self.values.resize(value.index() + 1, None);
        }
        self.values[value.index()] = Some(ty);
    }

    fn stmt(&mut self) -> Result<Stmt> {
        if self.peek().starts_with('%') {
            let value = self.value()?;
            let ty = self.ty()?;
            self.define(value, ty);
            self.expect("=")?;
            let op = self.op()?;
            return Ok(Stmt::Let(Let { value, op, site: self.site_id()? }));
        }
        let word = self.word("a statement", |text| Some(text.to_owned()))?;
        match word.as_str() {
            "store" => {
                let place = self.place()?;
                self.expect("=")?;
                Ok(Stmt::Store { place, value: self.value()?, site: self.site_id()? })
            }
            "if" => {
                let (cond, then) = (self.value()?, self.body()?);
                let otherwise = if self.is("else") { self.body()? } else { vec![] };
                Ok(Stmt::If { cond, then, otherwise })
            }
            "for" => self.for_loop(),
            "loop" => Ok(Stmt::Loop { label: self.label()?, body: self.body()? }),
            "block" => {
                let (label, product) = (self.label()?, self.product()?);
                Ok(Stmt::Block { label, body: self.body()?, product })
            }
            "break" => Ok(Stmt::Break(self.label()?)),
            "continue" => Ok(Stmt::Continue(self.label()?)),
            "return" => Ok(Stmt::Return),
            "phase" => Ok(Stmt::Phase { once: false, body: self.body()? }),
            "once" => Ok(Stmt::Phase { once: true, body: self.body()? }),
            "collect" => self.collect(),
            "contribute" => {
                let param = self.param()?;
                self.expect("=")?;
                Ok(Stmt::Contribute { param, value: self.value()? })
            }
            "assert" => {
                let cond = self.value()?;
                match self.site_id()? {
                    Some(site) => Ok(Stmt::Assert { cond, site, collision: self.collision()? }),
                    None => self.error("a site"),
                }
            }
            _ => {
                self.at -= 1;
                self.error("a statement")
            }
        }
    }

    fn product(&mut self) -> Result<Option<Box<Product>>> {
        if !self.is("product") {
            return Ok(None);
        }
        let sum = self.var()?;
        let factors = [self.corner()?, self.corner()?];
        Ok(Some(Box::new(Product { sum, factors, depth: self.value()? })))
    }

    fn corner(&mut self) -> Result<Corner> {
        let view = self.param()?;
        self.expect("[")?;
        Ok(Corner { view, at: self.values_until("]")?, turned: self.is("turned") })
    }

    fn collision(&mut self) -> Result<Option<Collision>> {
        if !self.is("collides") {
            return Ok(None);
        }
        let param = self.param()?;
        self.expect("[")?;
        let index = self.values_until("]")?;
        let items = [self.value()?, self.value()?];
        Ok(Some(Collision { param, index, items }))
    }

    fn for_loop(&mut self) -> Result<Stmt> {
        let (label, index) = (self.label()?, self.value()?);
        self.expect("in")?;
        let start = self.value()?;
        self.expect(",")?;
        let end = self.value()?;
        let ty = self.values.get(start.index()).copied().flatten();
        self.define(index, ty.unwrap_or(Scalar::U64.into()));
        Ok(Stmt::For { label, index, start, end, body: self.body()? })
    }

    fn collect(&mut self) -> Result<Stmt> {
        let fold = self.word("a fold", Fold::of_name)?;
        let (combine, value) = (self.combine()?, self.value()?);
        self.expect("into")?;
        let into = self.var()?;
        Ok(Stmt::Collect { fold, combine, body: self.body()?, value, into })
    }

    fn place(&mut self) -> Result<Place> {
        let root = match self.peek().chars().next() {
            Some('p') => {
                let param = self.param()?;
                self.expect("[")?;
                Root::Element(param, self.values_until("]")?)
            }
            // Parts that are known are written on, as in `v3.1.0`.
            _ => {
                let (whole, known) = self.split()?;
                let mut path = known;
                self.steps(&mut path)?;
                return Ok(Place { root: Root::Var(VarId(whole)), path });
            }
        };
        let mut path = vec![];
        self.steps(&mut path)?;
        Ok(Place { root, path })
    }

    /// `v3.1.0`, or `v3.` before an index.
    fn split(&mut self) -> Result<(u32, Vec<Hop>)> {
        let wanted = "a variable or an element";
        let read = |text: &str| {
            let mut parts = text.strip_prefix('v')?.split('.');
            let var = parts.next()?.parse().ok().filter(|var| *var < MOST)?;
            let known = |part: &str| part.parse().ok().map(Hop::Part);
            let steps: Option<Vec<_>> = parts.filter(|part| !part.is_empty()).map(known).collect();
            Some((var, steps?))
        };
        self.word(wanted, read)
    }

    fn steps(&mut self, path: &mut Vec<Hop>) -> Result<()> {
        loop {
            if self.is("[") {
                path.push(Hop::At(self.value()?));
                self.expect("]")?;
            } else if self.peek().starts_with('.') {
                let known = |part: &str| part.parse().ok().map(Hop::Part);
                let read = |text: &str| -> Option<Vec<Hop>> {
                    text.split('.').filter(|part| !part.is_empty()).map(known).collect()
                };
                path.extend(self.word("parts", read)?);
            } else {
                return Ok(());
            }
        }
    }

    fn values_until(&mut self, end: &'static str) -> Result<Vec<Value>> {
        let mut values = vec![];
        while !self.is(end) {
            if !values.is_empty() {
                self.expect(",")?;
            }
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn listed(&mut self) -> Result<Vec<Value>> {
        self.expect("(")?;
        self.values_until(")")
    }

    fn second(&mut self) -> Result<Value> {
        self.expect(",")?;
        self.value()
    }

    fn literal(&mut self, scalar: Scalar) -> Result<u64> {
        self.word("a literal of this type", |text| {
            if let Some(bits) = text.strip_prefix("0x") {
                return u64::from_str_radix(bits, 16).ok();
            }
            match scalar {
                Scalar::F32 => text.parse().ok().map(|x: f32| u64::from(x.to_bits())),
                Scalar::F64 => text.parse().ok().map(f64::to_bits),
                _ if scalar.is_float() => None,
                _ => {
                    let value: i128 = text.parse().ok()?;
                    let (lo, hi) = scalar.limits()?;
                    (lo..=hi).contains(&value).then_some(value as u64 & scalar.mask())
                }
            }
        })
    }

    fn op(&mut self) -> Result<Op> {
        let name = self.word("an operation", |text| Some(text.to_owned()))?;
        if let Some(op) = Unary::of_name(&name) {
            return Ok(Op::Unary(op, self.value()?));
        }
        if let Some(op) = Binary::of_name(&name) {
            return Ok(Op::Binary(op, self.value()?, self.second()?));
        }
        if let Some(op) = Compare::of_name(&name) {
            return Ok(Op::Compare(op, self.value()?, self.second()?));
        }
        match name.as_str() {
            "const" => {
                let scalar = self.scalar()?;
                Ok(Op::Const(scalar, self.literal(scalar)?))
            }
            "zero" => Ok(Op::Zero(self.ty()?)),
            "arg" => Ok(Op::Arg(self.param()?)),
            "extent" => Ok(Op::Extent(self.param()?, self.number()?)),
            "query" => Ok(Op::Query {
                query: self.word("a question", Query::of_name)?,
                dim: self.number()?,
                copy: self.number()?,
            }),
            "dot4" => Ok(Op::Dot4(self.value()?, self.second()?, self.second()?)),
            "fma" => Ok(Op::Fma(self.value()?, self.second()?, self.second()?)),
            "select" => Ok(Op::Select(self.value()?, self.second()?, self.second()?)),
            "cast" => Ok(Op::Cast(self.value()?, self.scalar()?)),
            "bits" => Ok(Op::Bits(self.value()?, self.scalar()?)),
            "make" => Ok(Op::Make(self.ty()?, self.listed()?)),
            "part" => Ok(Op::Part(self.value()?, self.number()?)),
            "load" => Ok(Op::Load(self.place()?)),
            "atomic" => {
                let op = self.word("an atomic operation", Atomic::of_name)?;
                Ok(Op::Atomic(op, self.place()?, self.listed()?))
            }
            "subgroup" => {
                let op = self.word("a sub-group operation", Subgroup::of_name)?;
                Ok(Op::Subgroup(op, self.listed()?))
            }
            "subgroup_fold" => {
                let fold = self.word("a fold", Fold::of_name)?;
                Ok(Op::SubgroupFold(fold, self.combine()?, self.value()?))
            }
            _ => {
                self.at -= 1;
                self.error("an operation")
            }
        }
    }
}
