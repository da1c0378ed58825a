//! The walk over a body: each expression becomes Rust and tree.

use crate::errors::Errors;
use crate::pattern::Scopes;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprBinary, ExprForLoop, ExprIf, ExprLit, ExprStruct};
use syn::{Lit, Member, RangeLimits, Stmt, Token, Type, UnOp};

/// Rust, and tree.
pub type Both = (TokenStream, TokenStream);

/// Line and column, from 1.
pub fn place_of(span: Span) -> (u32, u32) {
    let start = span.start();
    (start.line as u32, start.column as u32 + 1)
}

/// The state of the walk.
#[derive(Default)]
pub struct Walk {
    /// Names.
    pub scopes: Scopes,
    /// What is refused.
    pub errors: Errors,
    /// `let` of each slot.
    pub slots: Vec<TokenStream>,
    /// Entries of the table.
    pub entries: Vec<TokenStream>,
    /// The name of the item, in one dimension: `x[i + 1]` is a neighbour.
    pub item: Option<u16>,
    /// The number of the first of them.
    pub first: u16,
    /// Indices that are written to, so far.
    targets: usize,
}

impl Walk {
    /// Refuses something.
    pub fn refuse(&mut self, at: Span, text: impl std::fmt::Display) -> Both {
        self.errors.add(at, text);
        (quote!(::core::panic!()), quote!(__s::Expr::Unit))
    }

    /// A new slot: its name, and its entry's number.
    pub fn slot(&mut self, at: Span, callee: bool) -> (Ident, u16) {
        let name =
            Ident::new(&format!("__slot{}", self.slots.len()), Span::mixed_site().located_at(at));
        self.slots.push(quote!(let #name = ::folio::ir::device::Slot::new();));
        let entry = match callee {
            true => self.entry(quote!(#name.callee())),
            false => self.entry(quote!(#name.entry())),
        };
        (name, entry)
    }

    /// A new entry, from an expression that gives a function that gives it.
    pub fn entry(&mut self, tokens: TokenStream) -> u16 {
        self.entries.push(tokens);
        self.first + (self.entries.len() - 1) as u16
    }

    /// The entry of a type.
    pub fn type_entry(&mut self, ty: &impl ToTokens) -> u16 {
        self.entry(quote!(<#ty as ::folio::ir::device::Slotted>::entry as fn() -> __s::Entry))
    }

    fn const_entry(&mut self, value: &impl ToTokens) -> u16 {
        self.entry(quote!((|| ::folio::ir::device::constant(#value)) as fn() -> __s::Entry))
    }

    /// A block.
    pub fn block(&mut self, block: &Block) -> Both {
        self.scopes.enter();
        let (mut natives, mut trees, mut tail) = (vec![], vec![], quote!(None));
        let last = block.stmts.len().saturating_sub(1);
        for (at, stmt) in block.stmts.iter().enumerate() {
            match stmt {
                Stmt::Local(local) => {
                    let (native, tree) = self.local(local);
                    natives.push(native);
                    trees.push(tree);
                }
                Stmt::Expr(expr, semi) => {
                    let (native, tree) = self.expr(expr);
                    let gives = at == last && semi.is_none() && !is_statement(expr);
                    natives.push(quote!(#native #semi));
                    if gives {
                        tail = quote!(Some(&#tree));
                    } else {
                        trees.push(quote!(__s::Statement::Expr(#tree)));
                    }
                }
                Stmt::Macro(mac) => {
                    let (native, tree) = self.macro_call(&mac.mac);
                    natives.push(quote!(#native;));
                    trees.push(quote!(__s::Statement::Expr(#tree)));
                }
                Stmt::Item(item) => {
                    self.refuse(
                        item.span(),
                        "items inside a kernel are not supported; move it out",
                    );
                }
            }
        }
        self.scopes.leave();
        let native = quote_spanned!(block.brace_token.span.join() => { #(#natives)* });
        (native, quote!(__s::Block { statements: &[#(#trees),*], tail: #tail }))
    }

    fn local(&mut self, local: &syn::Local) -> Both {
        let Some(init) = &local.init else {
            self.scopes.pattern(&local.pat, &mut self.errors);
            return self.refuse(local.span(), "`let` needs a value here; write `let x = ..;`");
        };
        if let Some((token, _)) = &init.diverge {
            self.refuse(token.span(), "`let .. else` is not supported; use `if`");
        }
        let (native, tree) = self.expr(&init.expr);
        let pattern = self.scopes.pattern(&local.pat, &mut self.errors);
        let pat = &local.pat;
        (quote!(let #pat = #native;), quote!(__s::Statement::Let(#pattern, #tree)))
    }

    /// An expression.
    pub fn expr(&mut self, expr: &Expr) -> Both {
        match expr {
            Expr::Lit(lit) => self.literal(lit, false),
            Expr::Paren(inner) => {
                let (native, tree) = self.expr(&inner.expr);
                (quote!((#native)), tree)
            }
            Expr::Group(inner) => self.expr(&inner.expr),
            Expr::Path(path) => {
                let local = path.path.get_ident().and_then(|name| self.scopes.find(name));
                let tree = match local {
                    Some(at) => quote!(__s::Expr::Local(#at)),
                    None => {
                        let entry = self.const_entry(path);
                        quote!(__s::Expr::Const(#entry))
                    }
                };
                (path.to_token_stream(), tree)
            }
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Assign(assign) => self.assign(&assign.left, &assign.right, assign.eq_token.span),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Field(field) => {
                let (native, tree) = self.expr(&field.base);
                let member = &field.member;
                let name = member.to_token_stream().to_string();
                (quote!(#native.#member), quote!(__s::Expr::Field(&#tree, #name)))
            }
            Expr::Index(index) => {
                let (base, base_tree) = self.expr(&index.expr);
                let (native, tree) = self.index(&index.index);
                let (line, column) = place_of(index.span());
                let at = quote_spanned!(index.index.span() => ::folio::ir::device::at);
                (
                    quote_spanned!(index.span() => #at(&#base, #native)),
                    quote!(__s::Expr::Index(&#base_tree, &#tree, (#line, #column))),
                )
            }
            Expr::Tuple(tuple) if tuple.elems.is_empty() => (quote!(()), quote!(__s::Expr::Unit)),
            Expr::Tuple(tuple) => {
                let (natives, trees) = self.all(&tuple.elems);
                (quote!((#(#natives,)*)), quote!(__s::Expr::Tuple(&[#(#trees),*])))
            }
            Expr::Array(array) => {
                let (natives, trees) = self.all(&array.elems);
                (quote!([#(#natives),*]), quote!(__s::Expr::Array(&[#(#trees),*])))
            }
            Expr::Repeat(repeat) => {
                let (native, tree) = self.expr(&repeat.expr);
                let len = &repeat.len;
                let entry = self.const_entry(&quote!({ const { #len } }));
                (quote!([#native; #len]), quote!(__s::Expr::Repeat(&#tree, #entry)))
            }
            Expr::Struct(literal) => self.structure(literal),
            Expr::MethodCall(call) => self.method(call),
            Expr::Call(call) => self.call(call),
            Expr::Macro(mac) => self.macro_call(&mac.mac),
            Expr::If(branch) => self.branch(branch),
            Expr::Block(block) if block.label.is_none() => {
                let (native, tree) = self.block(&block.block);
                (native, quote!(__s::Expr::Block(&#tree)))
            }
            Expr::While(_)
            | Expr::Loop(_)
            | Expr::ForLoop(_)
            | Expr::Break(_)
            | Expr::Continue(_)
            | Expr::Return(_) => self.flow(expr),
            other => self.unsupported(other),
        }
    }

    fn all<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> (Vec<TokenStream>, Vec<TokenStream>) {
        exprs.into_iter().map(|expr| self.expr(expr)).unzip()
    }

    fn unsupported(&mut self, expr: &Expr) -> Both {
        let text = match expr {
            Expr::Match(_) => "`match` is not supported; write `if` / `else if`",
            Expr::Closure(_) => "closures are not supported; write a #[device_fn]",
            Expr::Reference(_) => {
                "references are not supported; pass the value, which is copied, or the view"
            }
            Expr::Try(_) => "`?` is not supported; kernels do not return errors",
            Expr::Let(_) => "`if let` is not supported; compare with `==`",
            Expr::Range(_) => "a range is only for `for`; write its ends as two values",
            Expr::Await(_) | Expr::Async(_) => "kernels cannot be async",
            Expr::Unsafe(_) => "`unsafe` is not supported in kernels; use an opaque kernel",
            Expr::Block(_) => "labels are not supported; use a flag",
            Expr::RawAddr(_) => "pointers are not supported; pass a view",
            Expr::Const(_) => "`const` blocks are not supported; write a `const` outside",
            _ => "this expression is not supported",
        };
        self.refuse(expr.span(), text)
    }

    fn literal(&mut self, lit: &ExprLit, negative: bool) -> Both {
        let span = lit.span();
        let (digits, suffix) = match &lit.lit {
            Lit::Bool(value) => {
                let value = value.value;
                return (lit.to_token_stream(), quote!(__s::Expr::Bool(#value)));
            }
            Lit::Int(number) => (number.base10_digits().to_owned(), number.suffix().to_owned()),
            Lit::Float(number) => (number.base10_digits().to_owned(), number.suffix().to_owned()),
            _ => {
                return self
                    .refuse(span, "this literal has no device type; use numbers and booleans");
            }
        };
        let digits = if negative { format!("-{digits}") } else { digits };
        let minus = negative.then(|| Token![-](span));
        if !suffix.is_empty() {
            let ty = Ident::new(&suffix, span);
            let entry = self.type_entry(&ty);
            return (quote!((#minus #lit)), quote!(__s::Expr::Number(#digits, #entry)));
        }
        let (slot, entry) = self.slot(span, false);
        let value = Ident::new("__v", Span::mixed_site().located_at(span));
        // No call around the literal: rustc's message then points at the literal alone.
        let native =
            quote_spanned!(span => { let #value = #minus #lit; #slot.is(&#value); #value });
        (native, quote!(__s::Expr::Number(#digits, #entry)))
    }

    fn unary(&mut self, unary: &syn::ExprUnary) -> Both {
        if let (UnOp::Neg(_), Expr::Lit(lit)) = (&unary.op, &*unary.expr) {
            return self.literal(lit, true);
        }
        let (native, tree) = self.expr(&unary.expr);
        match unary.op {
            UnOp::Neg(token) => {
                let neg = quote_spanned!(token.span => ::folio::ir::device::ops::neg);
                (quote!(#neg(#native)), quote!(__s::Expr::Unary('-', &#tree)))
            }
            UnOp::Not(token) => (quote!((#token #native)), quote!(__s::Expr::Unary('!', &#tree))),
            _ => self.refuse(unary.span(), "dereferencing is not supported; values are copied"),
        }
    }

    fn cast(&mut self, cast: &syn::ExprCast) -> Both {
        let ty = &cast.ty;
        if matches!(**ty, Type::Infer(_)) {
            return self.refuse(ty.span(), "write the type after `as`");
        }
        let (native, tree) = self.expr(&cast.expr);
        let entry = self.type_entry(ty);
        (quote!(((#native) as #ty)), quote!(__s::Expr::Cast(&#tree, #entry)))
    }

    fn binary(&mut self, binary: &ExprBinary) -> Both {
        let op = binary.op.to_token_stream().to_string();
        let (function, assigns) = function_of(&binary.op);
        let span = binary.op.span();
        let (line, column) = place_of(binary.span());
        let at = quote!((#line, #column));
        let function = function.map(|name| {
            let name = Ident::new(name, span);
            quote_spanned!(span => ::folio::ir::device::ops::#name)
        });
        if !assigns {
            let (a, tree_a) = self.expr(&binary.left);
            let (b, tree_b) = self.expr(&binary.right);
            let tree = quote!(__s::Expr::Binary(#op, &#tree_a, &#tree_b, #at));
            let token = &binary.op;
            return match function {
                Some(function) => (quote_spanned!(binary.span() => #function(#a, #b)), tree),
                None => (quote!(((#a) #token (#b))), tree),
            };
        }
        let op = op.trim_end_matches('=');
        let (b, tree_b) = self.expr(&binary.right);
        let (target, tree_a) = self.target(&binary.left);
        let tree = quote!(__s::Expr::AssignOp(#op, &#tree_a, &#tree_b, #at));
        let by = Ident::new("__by", Span::mixed_site().located_at(span));
        let old = target.read();
        let new = match function {
            Some(function) => quote_spanned!(binary.span() => #function(#old, #by)),
            None => {
                let token: TokenStream = op.parse().unwrap_or_default();
                quote!((#old) #token #by)
            }
        };
        let (before, write) = (target.before(), target.write(new, 0));
        (quote!({ let #by = #b; #before #write; }), tree)
    }

    fn assign(&mut self, to: &Expr, from: &Expr, token: Span) -> Both {
        let (line, column) = place_of(token);
        let (native, tree) = self.expr(from);
        if matches!(to, Expr::Infer(_)) {
            return (quote!(_ = #native), tree);
        }
        let (target, place) = self.target(to);
        let tree = quote!(__s::Expr::Assign(&#place, &#tree, (#line, #column)));
        if let Target::Name(name) = &target {
            return (quote!(#name = #native), tree);
        }
        // The value first: its operands may be what is written.
        let value = Ident::new("__w", Span::mixed_site().located_at(from.span()));
        let (before, write) = (target.before(), target.write(quote!(#value), 0));
        (quote!({ let #value = #native; #before #write; }), tree)
    }

    /// What is written to, and its tree.
    fn target(&mut self, expr: &Expr) -> (Target, TokenStream) {
        match expr {
            Expr::Path(path)
                if path.path.get_ident().and_then(|n| self.scopes.find(n)).is_some() =>
            {
                let (native, tree) = self.expr(expr);
                (Target::Name(native), tree)
            }
            Expr::Paren(inner) => self.target(&inner.expr),
            Expr::Field(field) => {
                let (base, tree) = self.target(&field.base);
                let name = field.member.to_token_stream().to_string();
                let tree = quote!(__s::Expr::Field(&#tree, #name));
                (Target::Field(Box::new(base), field.member.clone()), tree)
            }
            Expr::Index(index) => {
                let (base, base_tree) = self.target(&index.expr);
                let (native, tree) = self.index(&index.index);
                let (line, column) = place_of(index.span());
                let tree = quote!(__s::Expr::Index(&#base_tree, &#tree, (#line, #column)));
                let span = index.index.span();
                let name = format!("__i{}", self.targets);
                self.targets += 1;
                let name = Ident::new(&name, Span::mixed_site().located_at(span));
                (Target::Index(Box::new(base), native, name), tree)
            }
            other => {
                let text = "cannot assign to this; assign to a variable, a field, or an element";
                let (native, tree) = self.refuse(other.span(), text);
                (Target::Name(native), tree)
            }
        }
    }

    /// An index: `i + 1` with the item is the neighbour.
    fn index(&mut self, index: &Expr) -> Both {
        let Expr::Binary(binary) = index else { return self.expr(index) };
        let item = match &*binary.left {
            Expr::Path(path) => path.path.get_ident().and_then(|name| self.scopes.find(name)),
            _ => None,
        };
        if item.is_none() || item != self.item {
            return self.expr(index);
        }
        let (name, op) = match binary.op {
            BinOp::Add(_) => ("add", "+"),
            BinOp::Sub(_) => ("sub", "-"),
            _ => return self.expr(index),
        };
        let (native, tree) = self.expr(&binary.right);
        let (left, left_tree) = self.expr(&binary.left);
        let name = Ident::new(name, binary.op.span());
        let (line, column) = place_of(binary.op.span());
        let own = quote!(__s::Expr::Method(&#left_tree, "index", &[], (#line, #column)));
        (
            quote_spanned!(binary.span() => ::folio::ir::device::ops::#name(#left.index(), #native)),
            quote!(__s::Expr::Binary(#op, &#own, &#tree, (#line, #column))),
        )
    }

    fn structure(&mut self, literal: &ExprStruct) -> Both {
        if let Some(rest) = &literal.rest {
            return self.refuse(rest.span(), "`..rest` is not supported; name every field");
        }
        let (slot, entry) = self.slot(literal.path.span(), false);
        let (mut natives, mut trees) = (vec![], vec![]);
        for field in &literal.fields {
            let (native, tree) = self.expr(&field.expr);
            let member = &field.member;
            let name = member.to_token_stream().to_string();
            natives.push(quote!(#member: #native));
            trees.push(quote!((#name, #tree)));
        }
        let path = &literal.path;
        let value = Ident::new("__v", Span::mixed_site().located_at(literal.span()));
        let native = quote!({ let #value = #path { #(#natives),* }; #slot.is(&#value); #value });
        (native, quote!(__s::Expr::Struct(#entry, &[#(#trees),*])))
    }

    fn branch(&mut self, branch: &ExprIf) -> Both {
        if let Expr::Let(condition) = &*branch.cond {
            return self.refuse(condition.span(), "`if let` is not supported; compare with `==`");
        }
        let (cond, cond_tree) = self.expr(&branch.cond);
        let (then, then_tree) = self.block(&branch.then_branch);
        let Some((_, otherwise)) = &branch.else_branch else {
            return (quote!(if #cond #then), quote!(__s::Expr::If(&#cond_tree, &#then_tree, None)));
        };
        let (native, tree) = match &**otherwise {
            Expr::Block(block) => self.block(&block.block),
            other => {
                let (native, tree) = self.expr(other);
                (native, quote!(__s::Block { statements: &[], tail: Some(&#tree) }))
            }
        };
        (
            quote!(if #cond #then else #native),
            quote!(__s::Expr::If(&#cond_tree, &#then_tree, Some(&#tree))),
        )
    }

    fn flow(&mut self, expr: &Expr) -> Both {
        let labels = "labels are not supported; use a flag";
        match expr {
            Expr::While(repeat) => {
                if let Some(label) = &repeat.label {
                    return self.refuse(label.span(), labels);
                }
                if let Expr::Let(condition) = &*repeat.cond {
                    let text = "`while let` is not supported; compare with `==`";
                    return self.refuse(condition.span(), text);
                }
                let (cond, cond_tree) = self.expr(&repeat.cond);
                let (body, tree) = self.block(&repeat.body);
                (quote!(while #cond #body), quote!(__s::Expr::While(&#cond_tree, &#tree)))
            }
            Expr::Loop(repeat) => {
                if let Some(label) = &repeat.label {
                    return self.refuse(label.span(), labels);
                }
                let (body, tree) = self.block(&repeat.body);
                (quote!(loop #body), quote!(__s::Expr::Loop(&#tree)))
            }
            Expr::ForLoop(repeat) => self.counted(repeat),
            Expr::Break(leave) if leave.label.is_some() => self.refuse(leave.span(), labels),
            Expr::Break(leave) if leave.expr.is_some() => {
                self.refuse(leave.span(), "`break` gives no value here; assign it before")
            }
            Expr::Break(_) => (quote!(break), quote!(__s::Expr::Break)),
            Expr::Continue(again) if again.label.is_some() => self.refuse(again.span(), labels),
            Expr::Continue(_) => (quote!(continue), quote!(__s::Expr::Continue)),
            Expr::Return(leave) => match &leave.expr {
                None => (quote!(return), quote!(__s::Expr::Return(None))),
                Some(value) => {
                    let (native, tree) = self.expr(value);
                    (quote!(return #native), quote!(__s::Expr::Return(Some(&#tree))))
                }
            },
            other => self.unsupported(other),
        }
    }

    fn counted(&mut self, repeat: &ExprForLoop) -> Both {
        if let Some(label) = &repeat.label {
            return self.refuse(label.span(), "labels are not supported; use a flag");
        }
        let mut over = &*repeat.expr;
        let mut reversed = false;
        loop {
            over = match over {
                Expr::Paren(inner) => &inner.expr,
                Expr::MethodCall(call) if call.method == "rev" && !reversed => {
                    reversed = true;
                    &call.receiver
                }
                _ => break,
            };
        }
        let Expr::Range(range) = over else {
            let text = "`for` runs over a range here: `for k in a..b`";
            return self.refuse(repeat.expr.span(), text);
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return self.refuse(range.span(), "give the range both ends");
        };
        let (first, first_tree) = self.expr(start);
        let (last, last_tree) = self.expr(end);
        let slot = Ident::new(
            &format!("__slot{}", self.slots.len()),
            Span::mixed_site().located_at(range.span()),
        );
        self.slots.push(quote!(let #slot = ::folio::ir::device::Slot::new();));
        self.scopes.enter();
        let pattern = self.scopes.pattern(&repeat.pat, &mut self.errors);
        let (body, tree) = self.block(&repeat.body);
        self.scopes.leave();
        let (pat, limits) = (&repeat.pat, &range.limits);
        let inclusive = matches!(limits, RangeLimits::Closed(_));
        let rev = reversed.then(|| quote!(.rev()));
        let native = quote!(for #pat in #slot.range((#first) #limits (#last))#rev #body);
        let tree = quote! {
            __s::Expr::For(#pattern, &#first_tree, &#last_tree, #inclusive, #reversed, &#tree)
        };
        (native, tree)
    }
}

/// Something that is written to, in Rust.
enum Target {
    Name(TokenStream),
    Field(Box<Target>, Member),
    /// The index, and the name of the variable that holds it.
    Index(Box<Target>, TokenStream, Ident),
}

impl Target {
    /// Rust can assign to it directly.
    fn is_variable(&self) -> bool {
        match self {
            Target::Name(_) => true,
            Target::Field(base, _) => base.is_variable(),
            Target::Index(..) => false,
        }
    }

    /// Computes the indices, once.
    fn before(&self) -> TokenStream {
        match self {
            Target::Name(_) => quote!(),
            Target::Field(base, _) => base.before(),
            Target::Index(base, index, name) => {
                let base = base.before();
                quote!(#base let #name = #index;)
            }
        }
    }

    /// What is there.
    fn read(&self) -> TokenStream {
        match self {
            Target::Name(name) => name.clone(),
            Target::Field(base, member) => {
                let base = base.read();
                quote!(#base.#member)
            }
            Target::Index(base, _, name) => {
                let base = base.read();
                let at = quote_spanned!(name.span() => ::folio::ir::device::at);
                quote_spanned!(name.span() => #at(&#base, #name))
            }
        }
    }

    /// Puts a value there: into a copy of what is around, where Rust cannot assign directly.
    fn write(&self, value: TokenStream, depth: usize) -> TokenStream {
        let whole = Ident::new(&format!("__whole{depth}"), Span::mixed_site());
        match self {
            _ if self.is_variable() => {
                let place = self.read();
                quote!(#place = #value)
            }
            Target::Name(_) => quote!(),
            Target::Field(base, member) => {
                let (read, write) = (base.read(), base.write(quote!(#whole), depth + 1));
                quote!({ let mut #whole = #read; #whole.#member = #value; #write })
            }
            Target::Index(base, _, name) => {
                let put = quote_spanned!(name.span() => ::folio::ir::device::put);
                if base.is_variable() {
                    let base = base.read();
                    let new = Ident::new("__new", Span::mixed_site().located_at(name.span()));
                    // The value first: it may read what is written.
                    return quote_spanned! {name.span()=>
                        { let #new = #value; #put(&mut #base, #name, #new) }
                    };
                }
                let (read, write) = (base.read(), base.write(quote!(#whole), depth + 1));
                quote!({ let mut #whole = #read; #put(&mut #whole, #name, #value); #write })
            }
        }
    }
}

/// Expressions that give nothing, without a semicolon.
fn is_statement(expr: &Expr) -> bool {
    matches!(expr, Expr::While(_) | Expr::ForLoop(_) | Expr::Loop(_) | Expr::Assign(_))
}

/// The function that an operator becomes, and whether it assigns.
fn function_of(op: &BinOp) -> (Option<&'static str>, bool) {
    match op {
        BinOp::Add(_) => (Some("add"), false),
        BinOp::Sub(_) => (Some("sub"), false),
        BinOp::Mul(_) => (Some("mul"), false),
        BinOp::Div(_) => (Some("div"), false),
        BinOp::Rem(_) => (Some("rem"), false),
        BinOp::Shl(_) => (Some("shl"), false),
        BinOp::Shr(_) => (Some("shr"), false),
        BinOp::AddAssign(_) => (Some("add"), true),
        BinOp::SubAssign(_) => (Some("sub"), true),
        BinOp::MulAssign(_) => (Some("mul"), true),
        BinOp::DivAssign(_) => (Some("div"), true),
        BinOp::RemAssign(_) => (Some("rem"), true),
        BinOp::ShlAssign(_) => (Some("shl"), true),
        BinOp::ShrAssign(_) => (Some("shr"), true),
        BinOp::BitAndAssign(_) | BinOp::BitOrAssign(_) | BinOp::BitXorAssign(_) => (None, true),
        _ => (None, false),
    }
}
