//! Functions of the source as code of the IR, in the notation of `soft/code.rs`.
//!
//! A number that is known when the program is compiled stays one (it is *known*) until it meets a
//! number of the kernel. Types decide what a literal becomes there.

use crate::program::{Name, Program, join, split};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    BinOp, Block, Expr, FnArg, Item, ItemFn, Lit, Member, Pat, ReturnType, Stmt, Token, UnOp,
};

#[derive(Clone, PartialEq, Debug)]
enum Ty {
    F32,
    F64,
    U32,
    U64,
    I32,
    Bool,
    Usize,
    /// Of a literal, which takes the type of what it meets.
    Any,
    Tuple(Vec<Ty>),
    Array(Box<Ty>, usize),
    Fn(Vec<Ty>, Box<Ty>),
}

impl Ty {
    fn of(ty: &syn::Type) -> Ty {
        match ty {
            syn::Type::Path(path) => Ty::named(&path.path.segments[0].ident.to_string()),
            syn::Type::Tuple(all) => Ty::Tuple(all.elems.iter().map(Ty::of).collect()),
            syn::Type::Array(array) => {
                let Expr::Lit(syn::ExprLit { lit: Lit::Int(len), .. }) = &array.len else {
                    panic!("the length of an array");
                };
                Ty::Array(Box::new(Ty::of(&array.elem)), len.base10_parse().unwrap())
            }
            syn::Type::ImplTrait(one) => match &one.bounds[0] {
                syn::TypeParamBound::Trait(bound) => match &bound.path.segments[0].arguments {
                    syn::PathArguments::Parenthesized(of) => Ty::Fn(
                        of.inputs.iter().map(Ty::of).collect(),
                        Box::new(Ty::ret(&of.output)),
                    ),
                    _ => panic!("a trait that is no function's"),
                },
                _ => panic!("a bound that is no trait"),
            },
            _ => panic!("a type that is not translated"),
        }
    }

    fn ret(output: &ReturnType) -> Ty {
        match output {
            ReturnType::Type(_, ty) => Ty::of(ty),
            ReturnType::Default => panic!("a function of nothing"),
        }
    }

    fn named(name: &str) -> Ty {
        match name {
            "f32" => Ty::F32,
            "f64" => Ty::F64,
            "u32" => Ty::U32,
            "u64" => Ty::U64,
            "i32" => Ty::I32,
            "bool" => Ty::Bool,
            "usize" => Ty::Usize,
            _ => panic!("{name}: a type that is not translated"),
        }
    }

    /// What the notation calls it.
    fn text(&self) -> String {
        match self {
            Ty::Tuple(all) => format!("({})", texts(all)),
            Ty::Array(of, len) => format!("[{}; {len}]", of.text()),
            Ty::Fn(args, ret) => format!("impl Fn({}) -> {}", texts(args), ret.text()),
            Ty::Usize => "usize".to_owned(),
            _ => "N<'c>".to_owned(),
        }
    }

    /// The method of `Code` that makes a literal of it.
    fn literal(&self) -> &'static str {
        match self {
            Ty::F32 => "f32",
            Ty::F64 => "f64",
            Ty::U32 => "u32",
            Ty::U64 => "u64",
            _ => panic!("{self:?}: a literal that is not translated"),
        }
    }

    fn scalar(&self) -> &'static str {
        match self {
            Ty::I32 => "I32",
            Ty::F32 => "F32",
            Ty::F64 => "F64",
            Ty::U32 => "U32",
            Ty::U64 => "U64",
            _ => panic!("{self:?}: no number"),
        }
    }

    fn bits(&self) -> u32 {
        if matches!(self, Ty::F64 | Ty::U64) { 64 } else { 32 }
    }

    fn is_float(&self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }
}

fn texts(all: &[Ty]) -> String {
    all.iter().map(Ty::text).collect::<Vec<_>>().join(", ")
}

/// A translated expression.
#[derive(Clone)]
struct Value {
    text: String,
    ty: Ty,
    /// Known when the program is compiled.
    known: bool,
    /// It needs brackets where it is an operand.
    joined: bool,
}

impl Value {
    fn new(text: String, ty: Ty) -> Value {
        Value { text, ty, known: false, joined: false }
    }

    fn known(text: String, ty: Ty) -> Value {
        Value { known: true, ..Value::new(text, ty) }
    }

    fn joined(self) -> Value {
        Value { joined: true, ..self }
    }

    fn operand(&self) -> String {
        if self.joined { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// What a function is called with, and what it gives.
struct Signature {
    args: Vec<Ty>,
    ret: Ty,
    is_const: bool,
}

fn signature(item: &ItemFn) -> Signature {
    let of = |arg: &FnArg| match arg {
        FnArg::Typed(arg) => Ty::of(&arg.ty),
        FnArg::Receiver(_) => panic!("a method"),
    };
    Signature {
        args: item.sig.inputs.iter().map(of).collect(),
        ret: Ty::ret(&item.sig.output),
        is_const: item.sig.constness.is_some(),
    }
}

fn source(of: &impl Spanned) -> String {
    of.span().source_text().unwrap()
}

/// The path of an item as a module says it.
fn path(from: &str, name: &str) -> String {
    let (there, own) = split(name);
    let parts = |module: &str| -> Vec<String> {
        module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let (here, there) = (parts(from), parts(there));
    let same = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("super".to_owned(), here.len() - same);
    up.chain(there[same..].iter().cloned()).chain([own.to_owned()]).collect::<Vec<_>>().join("::")
}

/// A function or constant in the making.
struct Scope<'p> {
    program: &'p Program,
    by_hand: &'p [&'p str],
    module: String,
    vars: HashMap<String, Value>,
    /// What a literal is that meets nothing.
    usual: Ty,
    /// The items that it uses.
    needs: BTreeSet<Name>,
    makes_literals: bool,
}

impl Scope<'_> {
    fn lifted(&mut self, value: Value, ty: &Ty) -> Value {
        if !value.known || matches!(ty, Ty::Usize | Ty::Fn(..)) {
            return value;
        }
        self.makes_literals = true;
        Value::new(format!("code.{}({})", ty.literal(), value.text), ty.clone())
    }

    /// As a number of the kernel, of its own type or of one that is wanted.
    fn number(&mut self, value: Value, wanted: Option<&Ty>) -> Value {
        let ty = match (&value.ty, wanted) {
            (Ty::Any, Some(wanted)) if *wanted != Ty::Any => wanted.clone(),
            (Ty::Any, _) => self.usual.clone(),
            (own, _) => own.clone(),
        };
        self.lifted(value, &ty)
    }

    fn expr(&mut self, expr: &Expr, wanted: Option<&Ty>) -> Value {
        match expr {
            Expr::Lit(lit) => Value::known(source(lit), Ty::Any),
            Expr::Paren(inner) => self.expr(&inner.expr, wanted),
            Expr::Block(block) => self.single(&block.block, wanted),
            Expr::Path(path) => self.path(&path.path),
            Expr::Unary(unary) => {
                let of = self.expr(&unary.expr, wanted);
                let sign = if matches!(unary.op, UnOp::Neg(_)) { '-' } else { '!' };
                Value { text: format!("{sign}{}", of.operand()), ..of }.joined()
            }
            Expr::Binary(binary) => {
                let (a, b) = (self.expr(&binary.left, None), self.expr(&binary.right, None));
                self.binary(&binary.op, a, b)
            }
            Expr::MethodCall(call) => {
                let of = self.expr(&call.receiver, None);
                let args = call.args.iter().map(|arg| self.expr(arg, Some(&of.ty))).collect();
                self.method(&call.method.to_string(), of, args, wanted)
            }
            Expr::Call(call) => self.call(&call.func, &call.args),
            Expr::Cast(cast) => {
                let of = self.expr(&cast.expr, None);
                converted(of, Ty::of(&cast.ty))
            }
            Expr::If(one) => {
                let cond = self.expr(&one.cond, None);
                let (_, otherwise) = one.else_branch.as_ref().unwrap();
                // Each is what the other is, where it is a literal.
                let no = self.expr(otherwise, wanted).ty;
                let yes = self.single(&one.then_branch, Some(&no));
                let no = self.expr(otherwise, Some(&yes.ty));
                let ty = if yes.ty == Ty::Any { &no.ty } else { &yes.ty };
                let ty = if *ty == Ty::Any { wanted.cloned() } else { Some(ty.clone()) };
                let (yes, no) = (self.number(yes, ty.as_ref()), self.number(no, ty.as_ref()));
                Value::new(format!("{}.pick({}, {})", cond.operand(), yes.text, no.text), yes.ty)
            }
            Expr::Tuple(tuple) => {
                let wanted = |at: usize| match wanted {
                    Some(Ty::Tuple(all)) => all.get(at),
                    _ => None,
                };
                let all = tuple.elems.iter().enumerate().map(|(at, elem)| {
                    let value = self.expr(elem, None);
                    self.number(value, wanted(at))
                });
                let all: Vec<Value> = all.collect();
                let inner = all.iter().map(|one| one.text.clone()).collect::<Vec<_>>().join(", ");
                let types = all.into_iter().map(|one| one.ty).collect();
                Value::new(format!("({inner})"), Ty::Tuple(types))
            }
            Expr::Array(array) => {
                let all = array.elems.iter().map(|elem| self.expr(elem, None)).collect::<Vec<_>>();
                let ty = all.iter().find(|one| !one.known).map_or(Ty::Any, |one| one.ty.clone());
                let all: Vec<_> =
                    all.into_iter().map(|one| self.number(one, Some(&ty)).text).collect();
                let len = all.len();
                Value::new(format!("[{}]", all.join(", ")), Ty::Array(Box::new(ty), len))
            }
            Expr::Index(index) => {
                let (of, at) = (self.expr(&index.expr, None), self.expr(&index.index, None));
                let Ty::Array(ty, _) = of.ty.clone() else { panic!("an index into no array") };
                assert!(at.known, "an index that is not known: {}", at.text);
                Value { text: format!("{}[{}]", of.operand(), at.text), ty: *ty, ..of }
            }
            Expr::Field(field) => {
                let (of, Member::Unnamed(at)) = (self.expr(&field.base, None), &field.member)
                else {
                    panic!("a field with a name");
                };
                let Ty::Tuple(mut all) = of.ty.clone() else { panic!("a part of no tuple") };
                let ty = all.swap_remove(at.index as usize);
                Value { text: format!("{}.{}", of.text, at.index), ty, ..of }
            }
            Expr::Const(block) => {
                let inner = self.single(&block.block, None);
                Value::known(format!("const {{ {} }}", inner.text), inner.ty)
            }
            Expr::Closure(closure) => self.closure(closure, wanted),
            Expr::Macro(one) => self.polynomial(&one.mac),
            _ => panic!("{}: not translated", source(expr)),
        }
    }

    /// The expression that a block is.
    fn single(&mut self, block: &Block, wanted: Option<&Ty>) -> Value {
        match &block.stmts[..] {
            [Stmt::Expr(expr, None)] => self.expr(expr, wanted),
            [Stmt::Macro(one)] => self.polynomial(&one.mac),
            _ => panic!("{}: statements within an expression", source(block)),
        }
    }

    fn path(&mut self, path: &syn::Path) -> Value {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        if let [name] = &names[..]
            && let Some(var) = self.vars.get(name)
        {
            return var.clone();
        }
        if let Some(found) = self.program.find(&self.module, &names) {
            let text = self::path(&self.module, &found.name);
            let ty = match found.item {
                Item::Const(item) => Ty::of(&item.ty),
                Item::Fn(item) => {
                    let Signature { args, ret, .. } = signature(item);
                    Ty::Fn(args, Box::new(ret))
                }
                _ => panic!("{text}: not translated"),
            };
            self.needs.insert(found.name);
            return Value::known(text, ty);
        }
        let whole = self.program.completed(&self.module, &names);
        let ty = whole.iter().find(|part| ["f32", "f64"].contains(&part.as_str())).unwrap();
        Value::known(whole.join("::"), Ty::named(ty))
    }

    fn binary(&mut self, op: &BinOp, a: Value, b: Value) -> Value {
        let shifts = matches!(op, BinOp::Shl(_) | BinOp::Shr(_));
        let ty = if shifts || a.ty != Ty::Any { a.ty.clone() } else { b.ty.clone() };
        let sign = source(op);
        if a.known && b.known {
            let text = format!("{} {sign} {}", a.operand(), b.operand());
            return Value::known(text, ty).joined();
        }
        let amount = if ty == Ty::I32 { &Ty::U32 } else { &ty };
        let of_right = if shifts { amount } else { &ty };
        let (a, b) = (self.number(a, Some(&ty)), self.number(b, Some(of_right)));
        let compare = match op {
            BinOp::Lt(_) => "lt",
            BinOp::Le(_) => "le",
            BinOp::Gt(_) => "gt",
            BinOp::Ge(_) => "ge",
            BinOp::Ne(_) => "ne",
            BinOp::Eq(_) if ty == Ty::Bool => {
                let text = format!("!({} ^ {})", a.operand(), b.operand());
                return Value::new(text, Ty::Bool).joined();
            }
            BinOp::Eq(_) => "eq",
            _ => {
                let text = format!("{} {sign} {}", a.operand(), b.operand());
                return Value::new(text, ty).joined();
            }
        };
        Value::new(format!("{}.{compare}({})", a.operand(), b.text), Ty::Bool)
    }

    fn method(&mut self, name: &str, of: Value, args: Vec<Value>, wanted: Option<&Ty>) -> Value {
        let arg = args.into_iter().next().map(|arg| self.number(arg, Some(&of.ty)));
        let called = |name: &str, ty: Ty| {
            let arg = arg.as_ref().map_or("", |arg| &arg.text);
            Value {
                text: format!("{}.{name}({arg})", of.operand()),
                ty,
                joined: false,
                ..of.clone()
            }
        };
        match name {
            "abs" | "sqrt" | "copysign" | "saturating_sub" => called(name, of.ty.clone()),
            "is_nan" => called(name, Ty::Bool),
            "is_sign_negative" => called("is_negative", Ty::Bool),
            "to_bits" => {
                let ty = if of.ty == Ty::F64 { Ty::U64 } else { Ty::U32 };
                called(if of.known { name } else { "raw" }, ty)
            }
            "into" => converted(of.clone(), wanted.unwrap().clone()),
            "wrapping_add" | "wrapping_sub" => {
                let sign = if name.ends_with("add") { '+' } else { '-' };
                let text = format!("{} {sign} {}", of.operand(), arg.unwrap().operand());
                Value::new(text, of.ty).joined()
            }
            _ => panic!("{name}: a method that is not translated"),
        }
    }

    fn call(&mut self, function: &Expr, args: &Punctuated<Expr, Token![,]>) -> Value {
        let Expr::Path(named) = function else { panic!("{}: not translated", source(function)) };
        let names: Vec<String> =
            named.path.segments.iter().map(|one| one.ident.to_string()).collect();
        if let [ty @ ("f32" | "f64"), how @ ("from" | "from_bits")] =
            &names.iter().map(String::as_str).collect::<Vec<_>>()[..]
        {
            let (of, ty) = (self.expr(&args[0], None), Ty::named(ty));
            return if *how == "from" { converted(of, ty) } else { as_bits(of, ty) };
        }
        let called = self.path(&named.path);
        let Ty::Fn(wanted, ret) = called.ty else { panic!("{}: no function", called.text) };
        let is_const = self
            .program
            .find(&self.module, &names)
            .is_some_and(|found| matches!(found.item, Item::Fn(item) if signature(item).is_const));
        let of = |scope: &mut Self, (arg, ty): (&Expr, &Ty)| {
            let value = scope.expr(arg, Some(ty));
            if is_const { value.text } else { scope.number(value, Some(ty)).text }
        };
        let args: Vec<_> = args.iter().zip(&wanted).map(|pair| of(self, pair)).collect();
        let arguments = &named.path.segments.last().unwrap().arguments;
        let generic = if arguments.is_empty() { String::new() } else { source(arguments) };
        let text = format!("{}{generic}({})", called.text, args.join(", "));
        Value { known: is_const, ..Value::new(text, *ret) }
    }

    fn closure(&mut self, closure: &syn::ExprClosure, wanted: Option<&Ty>) -> Value {
        let before = self.vars.clone();
        let mut types = match wanted {
            Some(Ty::Fn(args, _)) => args.clone(),
            _ => vec![],
        };
        let mut params = vec![];
        for (at, param) in closure.inputs.iter().enumerate() {
            if let Pat::Type(typed) = param {
                types.insert(at, Ty::of(&typed.ty));
            }
            params.push(source(param));
            let name = match param {
                Pat::Type(typed) => &typed.pat,
                other => other,
            };
            self.bind(name, &types[at]);
        }
        let body = self.expr(&closure.body, None);
        let body = self.number(body, None);
        self.vars = before;
        let text = format!("|{}| {}", params.join(", "), body.text);
        Value::known(text, Ty::Fn(types, Box::new(body.ty)))
    }

    /// `poly!(x; c0, c1, ..)`
    fn polynomial(&mut self, one: &syn::Macro) -> Value {
        let text = source(&one.tokens);
        let (x, all) = text.split_once(';').unwrap();
        let x = self.expr(&syn::parse_str(x).unwrap(), None);
        self.makes_literals = true;
        let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
        Value::new(format!("code.poly_{}({}, &[{all}])", x.ty.literal(), x.text), x.ty)
    }

    /// Makes the names of a pattern known.
    fn bind(&mut self, pat: &Pat, ty: &Ty) {
        match (pat, ty) {
            (Pat::Ident(one), _) => {
                let name = one.ident.to_string();
                let known = matches!(ty, Ty::Usize | Ty::Fn(..));
                let value = Value { known, ..Value::new(name.clone(), ty.clone()) };
                self.vars.insert(name, value);
            }
            (Pat::Type(typed), _) => self.bind(&typed.pat, ty),
            (Pat::Tuple(tuple), Ty::Tuple(all)) => {
                tuple.elems.iter().zip(all).for_each(|(pat, ty)| self.bind(pat, ty));
            }
            (Pat::Slice(slice), Ty::Array(of, _)) => {
                slice.elems.iter().for_each(|pat| self.bind(pat, of));
            }
            _ => panic!("{}: a pattern that is not translated", source(pat)),
        }
    }

    /// The lines of a function's body.
    fn body(&mut self, block: &Block, ret: &Ty) -> Vec<String> {
        let mut lines = vec![];
        for stmt in &block.stmts {
            match stmt {
                Stmt::Local(local) => {
                    let value = self.expr(&local.init.as_ref().unwrap().expr, None);
                    let value = self.number(value, None);
                    self.bind(&local.pat, &value.ty);
                    lines.push(format!("let {} = {};", source(&local.pat), value.text));
                }
                Stmt::Item(Item::Const(item)) => {
                    let name = item.ident.to_string();
                    let value = Value::known(name.clone(), Ty::of(&item.ty));
                    self.vars.insert(name, value);
                    lines.push(source(item));
                }
                Stmt::Expr(expr, None) => {
                    let value = self.expr(expr, Some(ret));
                    lines.push(self.number(value, Some(ret)).text);
                }
                Stmt::Macro(one) => lines.push(self.polynomial(&one.mac).text),
                _ => panic!("{}: a statement that is not translated", source(stmt)),
            }
        }
        lines
    }

    /// A function over numbers of the kernel.
    fn function(&mut self, item: &ItemFn) -> Vec<String> {
        let Signature { args, ret, .. } = signature(item);
        self.usual = args.iter().chain([&ret]).find(|ty| ty.is_float()).unwrap_or(&Ty::U64).clone();
        let mut params = vec![];
        let mut first = None;
        for (arg, ty) in item.sig.inputs.iter().zip(&args) {
            let FnArg::Typed(arg) = arg else { continue };
            self.bind(&arg.pat, ty);
            params.push(format!("{}: {}", source(&arg.pat), ty.text()));
            if let (Pat::Ident(one), None) = (&*arg.pat, &first) {
                first = Some(one.ident.to_string());
            }
        }
        let mut generics = "'c".to_owned();
        for param in &item.sig.generics.params {
            let syn::GenericParam::Const(param) = param else { panic!("a generic function") };
            generics += &format!(", {}", source(param));
            let name = param.ident.to_string();
            self.vars.insert(name.clone(), Value::known(name, Ty::of(&param.ty)));
        }
        let body = self.body(&item.block, &ret);
        let (name, params, ret) = (&item.sig.ident, params.join(", "), ret.text());
        let head = format!("pub fn {name}<{generics}>({params}) -> {ret} {{");
        let code = self.makes_literals.then(|| format!("    let code = {}.code;", first.unwrap()));
        let body = body.into_iter().map(|line| format!("    {line}"));
        [head].into_iter().chain(code).chain(body).chain(["}".to_owned()]).collect()
    }

    /// What is known when the program is compiled, as it is written.
    fn verbatim(&mut self, text: String, names: &[String]) -> Vec<String> {
        for name in names {
            let found = self.program.find(&self.module, std::slice::from_ref(name));
            self.needs.extend(found.map(|found| found.name));
        }
        format!("pub {text}").lines().map(str::to_owned).collect()
    }

    /// The lines of an item. One that is written by hand is a name for that.
    fn item(&mut self, name: &str, item: &Item) -> Vec<String> {
        if self.by_hand.contains(&name) {
            let up = "super::".repeat(self.module.split("::").count() + 1);
            return vec![format!("use {up}{};", split(name).1)];
        }
        match item {
            Item::Fn(item) if item.sig.constness.is_none() => self.function(item),
            Item::Fn(item) => {
                let text = format!("{} {}", source(&item.sig), source(&item.block));
                self.verbatim(text, &words(&source(&item.block)))
            }
            Item::Const(item) => {
                let (name, ty, value) = (&item.ident, source(&item.ty), source(&item.expr));
                self.verbatim(format!("const {name}: {ty} = {value};"), &words(&value))
            }
            _ => panic!("{name}: not translated"),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let all = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    all.filter(|word| word.starts_with(char::is_alphabetic)).map(str::to_owned).collect()
}

fn converted(of: Value, to: Ty) -> Value {
    if of.ty == to {
        return of;
    }
    let how = match (of.ty.is_float() || to.is_float(), of.ty.bits() == to.bits()) {
        (false, true) => return as_bits(of, to),
        _ => "cast",
    };
    Value::new(format!("{}.{how}(Scalar::{})", of.operand(), to.scalar()), to)
}

fn as_bits(of: Value, to: Ty) -> Value {
    Value::new(format!("{}.as_bits(Scalar::{})", of.operand(), to.scalar()), to)
}

/// The text of these items and of all that they use, in modules as in the source.
pub fn text(program: &Program, roots: impl Iterator<Item = Name>, by_hand: &[&str]) -> String {
    let mut left: Vec<Name> = roots.collect();
    let mut done: BTreeMap<Name, Vec<String>> = BTreeMap::new();
    while let Some(name) = left.pop() {
        let root: Vec<String> = name.split("::").map(str::to_owned).collect();
        let found = program.find("", &root).unwrap();
        if done.contains_key(&found.name) {
            continue;
        }
        let mut scope = Scope {
            program,
            by_hand,
            module: split(&found.name).0.to_owned(),
            vars: HashMap::new(),
            usual: Ty::U64,
            needs: BTreeSet::new(),
            makes_literals: false,
        };
        let lines = scope.item(&found.name, found.item);
        left.extend(scope.needs);
        done.insert(found.name, lines);
    }
    let mut modules: BTreeMap<Name, BTreeMap<Name, Vec<String>>> = BTreeMap::new();
    for (name, lines) in done {
        let (module, own) = split(&name);
        modules.entry(module.to_owned()).or_default().insert(own.to_owned(), lines);
    }
    let mut text = String::new();
    write(&modules, "", 0, &mut text);
    text
}

/// A module with those in it.
fn write(
    modules: &BTreeMap<Name, BTreeMap<Name, Vec<String>>>,
    module: &str,
    depth: usize,
    text: &mut String,
) {
    let tab = "    ".repeat(depth);
    if let Some(items) = modules.get(module) {
        let all: Vec<&String> = items.values().flatten().collect();
        let uses = |word: &str| all.iter().any(|line| line.contains(word));
        if uses("N<'c>") {
            *text += &format!("{tab}use {}code::N;\n", "super::".repeat(depth + 2));
        }
        if uses("Scalar::") {
            *text += &format!("{tab}use crate::types::Scalar;\n");
        }
        for lines in items.values() {
            *text += "\n";
            for line in lines {
                *text += format!("{tab}{line}").trim_end();
                *text += "\n";
            }
        }
    }
    let mut inner: BTreeSet<String> = BTreeSet::new();
    for name in modules.keys() {
        let rest = if module.is_empty() {
            Some(name.as_str())
        } else {
            name.strip_prefix(module).and_then(|rest| rest.strip_prefix("::"))
        };
        inner.extend(
            rest.filter(|rest| !rest.is_empty())
                .map(|rest| rest.split("::").next().unwrap_or(rest).to_owned()),
        );
    }
    for name in inner {
        *text += &format!("\n{tab}pub mod {name} {{\n");
        write(modules, &join(module, &name), depth + 1, text);
        *text += &format!("{tab}}}\n");
    }
}
