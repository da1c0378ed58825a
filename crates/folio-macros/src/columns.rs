//! Structs of arrays: `derive(Columns)`, and kernels with parameters of such structs.
//!
//! A kernel's attribute sees the name of a struct, and not its fields. So the derive makes a
//! `macro_rules!` of the struct's name, which is in scope where the struct is and knows the fields.
//! The attribute gives the function to that macro, and the macro gives it back with the fields
//! (`kernel_of_columns!`). Then each field is a view of its own: `ps[i].x` is `ps_x[i]`, and all
//! that is known of views holds.

use crate::function::{self, Kind};
use crate::parameter::path_of;
use crate::pattern::same;
use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Fields, FieldsNamed, FnArg, GenericArgument, ItemFn, Pat, Path,
    PathArguments, Type, braced, bracketed,
};

/// `derive(Columns)`
pub fn derive(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    implement(&input).unwrap_or_else(|error| error.to_compile_error())
}

fn implement(input: &DeriveInput) -> syn::Result<TokenStream> {
    let (vis, name) = (&input.vis, &input.ident);
    let named = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) if !fields.named.is_empty() => fields,
            _ => return Err(Error::new(name.span(), "Columns: give the struct fields with names")),
        },
        _ => return Err(Error::new(name.span(), "Columns: for structs")),
    };
    if !input.generics.params.is_empty() {
        let text = "Columns: a struct with columns has no parameters";
        return Err(Error::new(input.generics.span(), text));
    }
    let (columns, site) = (format_ident!("{}Columns", name), Span::mixed_site());
    let fields: Vec<_> = named.named.iter().filter_map(|field| field.ident.clone()).collect();
    let types: Vec<_> = named.named.iter().map(|field| &field.ty).collect();
    let shown = named.named.iter().map(|field| &field.vis);
    let kernels = format_ident!("__columns_of_{}", name, span = site);
    let first = &fields[0];
    // Fields have any name.
    let [rt, len, rows, row, of, at] =
        ["rt", "len", "rows", "row", "of", "at"].map(|name| Ident::new(name, site));
    let own = (0..fields.len()).map(|at| format_ident!("column{at}", span = site));
    let own: Vec<_> = own.collect();
    let size = quote!(::folio::ir::device::rust::primitive::usize);
    let ok = quote!(::folio::ir::device::rust::result::Result::Ok);
    let about = format!("A buffer for each field of [`{name}`], all of one length.");
    let sides: Vec<_> = fields.iter().map(|field| format!("The column `{field}`.")).collect();
    Ok(quote_spanned! {name.span()=>
        #[doc = #about]
        #[derive(Debug)]
        #vis struct #columns {
            #(#[doc = #sides] #shown #fields: ::folio::Buffer<#types>,)*
        }

        impl ::folio::Columns for #name {
            type Buffers = #columns;

            fn empty(#rt: &::folio::Runtime, #len: #size) -> ::folio::Result<#columns> {
                #ok(#columns { #(#fields: ::folio::Runtime::buffer(#rt, #len)?,)* })
            }

            fn of_rows(#rt: &::folio::Runtime, #rows: &[Self]) -> ::folio::Result<#columns> {
                #(
                    let #own: ::folio::ir::device::rust::vec::Vec<#types> =
                        #rows.iter().map(|#row| #row.#fields).collect();
                )*
                #ok(#columns { #(#fields: ::folio::Runtime::buffer_from(#rt, #own)?,)* })
            }

            fn rows(
                #of: &#columns,
            ) -> ::folio::Result<::folio::ir::device::rust::vec::Vec<Self>> {
                let #len = ::folio::length_of_columns(&[#(::folio::Buffer::len(&#of.#fields)),*])?;
                #(let #own = #of.#fields.to_vec()?;)*
                let #row = |#at: #size| #name { #(#fields: #own[#at],)* };
                #ok((0..#len).map(#row).collect())
            }

            fn range(#of: &#columns) -> [#size; 1] {
                #of.#first.range()
            }
        }

        #[doc(hidden)]
        #[allow(unused_macros, reason = "for kernels, of which there may be none")]
        macro_rules! #kernels {
            ([$($known:tt)*] [$($others:tt)*] {$($arguments:tt)*} $($item:tt)*) => {
                ::folio::kernel_of_columns! {
                    [$($known)* #name #named] [$($others)*] {$($arguments)*} $($item)*
                }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports, reason = "for kernels, of which there may be none")]
        pub(crate) use #kernels as #name;
    })
}

/// A parameter of a kernel that is several views.
pub struct Columns {
    /// Its name.
    pub name: Ident,
    /// The struct.
    pub of: Path,
    pub writes: bool,
    /// The views, and the fields that they are.
    pub views: Vec<(Ident, Ident)>,
}

/// The struct of a parameter of columns, and the type of each view.
pub fn columns_of(ty: &Type) -> Option<(&Path, &'static str)> {
    let view = match path_of(ty)?.0.as_str() {
        "InColumns" => "In",
        "OutColumns" => "Out",
        "InOutColumns" => "InOut",
        _ => return None,
    };
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match list.args.first()? {
        GenericArgument::Type(Type::Path(of)) => Some((&of.path, view)),
        _ => None,
    }
}

/// Asks for the fields of the structs whose columns a kernel has; none for another kernel.
pub fn asked(arguments: &TokenStream, item: &TokenStream) -> Option<TokenStream> {
    let function = syn::parse2::<ItemFn>(item.clone()).ok()?;
    let text = |of: &Path| of.to_token_stream().to_string();
    let mut structs: Vec<Path> = vec![];
    for input in &function.sig.inputs {
        if let FnArg::Typed(typed) = input
            && let Some((of, _)) = columns_of(&typed.ty)
            && structs.iter().all(|known| text(known) != text(of))
        {
            structs.push(of.clone());
        }
    }
    let (first, others) = structs.split_first()?;
    Some(quote!(#first! { [] [#(#others)*] {#arguments} #item }))
}

/// A struct, and its fields.
struct KnownStruct {
    name: Ident,
    fields: FieldsNamed,
}

struct Question {
    known: Vec<KnownStruct>,
    others: Vec<Path>,
    arguments: TokenStream,
    item: TokenStream,
}

impl Question {
    fn read(input: ParseStream<'_>) -> syn::Result<Question> {
        let (told, asked, arguments);
        bracketed!(told in input);
        bracketed!(asked in input);
        braced!(arguments in input);
        let (mut known, mut others) = (vec![], vec![]);
        while !told.is_empty() {
            known.push(KnownStruct { name: told.parse()?, fields: told.parse()? });
        }
        while !asked.is_empty() {
            others.push(asked.parse()?);
        }
        Ok(Question { known, others, arguments: arguments.parse()?, item: input.parse()? })
    }
}

/// `kernel_of_columns!`: a kernel, and the fields of structs.
pub fn kernel(tokens: TokenStream) -> TokenStream {
    let Question { known, others, arguments, item } = match Question::read.parse2(tokens) {
        Ok(question) => question,
        Err(error) => return error.to_compile_error(),
    };
    if let Some((next, others)) = others.split_first() {
        let known = known.iter().map(|KnownStruct { name, fields }| quote!(#name #fields));
        return quote!(#next! { [#(#known)*] [#(#others)*] {#arguments} #item });
    }
    match apart(item, &known) {
        Ok((item, columns)) => function::expand_with(arguments, item, Kind::Kernel, columns),
        Err(error) => error.to_compile_error(),
    }
}

/// The kernel with a view for each field.
fn apart(item: TokenStream, known: &[KnownStruct]) -> syn::Result<(TokenStream, Vec<Columns>)> {
    let mut function: ItemFn = syn::parse2(item)?;
    let (mut inputs, mut all) = (vec![], vec![]);
    for input in std::mem::take(&mut function.sig.inputs) {
        let FnArg::Typed(typed) = &input else {
            inputs.push(input);
            continue;
        };
        let (Some((of, view)), Pat::Ident(pat)) = (columns_of(&typed.ty), &*typed.pat) else {
            inputs.push(input);
            continue;
        };
        let found = known.iter().find(|known| {
            of.segments.last().is_some_and(|s| s.ident.unraw() == known.name.unraw())
        });
        let Some(KnownStruct { fields, .. }) = found else {
            let text = "kernel: name the struct by its own name, and import it";
            return Err(Error::new(of.span(), text));
        };
        let (name, at) = (pat.ident.clone(), typed.ty.span());
        let mut views = vec![];
        for field in &fields.named {
            let (Some(part), ty) = (&field.ident, &field.ty) else { continue };
            let site = Span::mixed_site().located_at(name.span());
            let mut own = format_ident!("{}_{}", name, part, span = site);
            // Fields of two parameters may be named alike: `a`, `b_c` and `a_b`, `c`.
            let others = all.iter().flat_map(|of: &Columns| &of.views);
            let others: Vec<_> = others.chain(&views).map(|(own, _)| own.to_string()).collect();
            while others.contains(&own.to_string()) {
                own = format_ident!("{}_", own, span = site);
            }
            let view = Ident::new(view, at);
            inputs.push(syn::parse2(quote_spanned!(at=> #own: ::folio::#view<#ty>))?);
            views.push((own, part.clone()));
        }
        all.push(Columns { name, of: of.clone(), writes: view != "In", views });
    }
    function.sig.inputs = inputs.into_iter().collect();
    let mut body = function.block.to_token_stream();
    for columns in &all {
        body = columns.apart(body)?;
    }
    *function.block = syn::parse2(body)?;
    Ok((function.to_token_stream(), all))
}

impl Columns {
    /// The field that a view is, as it is written.
    pub fn text(&self, view: &Ident) -> Option<String> {
        let (_, field) = self.views.iter().find(|(own, _)| same(own, view))?;
        Some(format!("{}.{field}", self.name))
    }

    /// The same code, with views in place of columns.
    fn apart(&self, code: TokenStream) -> syn::Result<TokenStream> {
        let tokens: Vec<TokenTree> = code.into_iter().collect();
        let (mut out, mut at) = (TokenStream::new(), 0);
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Group(group) => {
                    let mut same = Group::new(group.delimiter(), self.apart(group.stream())?);
                    same.set_span(group.span());
                    out.extend([TokenTree::from(same)]);
                    at += 1;
                }
                TokenTree::Ident(name) if *name == self.name && !is_part(&tokens, at) => {
                    at = self.used(&tokens, at, &mut out)?;
                }
                other => {
                    out.extend([other.clone()]);
                    at += 1;
                }
            }
        }
        Ok(out)
    }

    /// A use of the columns; gives where it ends.
    fn used(&self, tokens: &[TokenTree], at: usize, out: &mut TokenStream) -> syn::Result<usize> {
        let name = &self.name;
        match (tokens.get(at + 1), tokens.get(at + 2)) {
            (Some(TokenTree::Group(index)), _) if index.delimiter() == Delimiter::Bracket => {
                self.element(tokens, at, index, out)
            }
            (Some(TokenTree::Punct(dot)), Some(TokenTree::Ident(method)))
                if dot.as_char() == '.' && (method == "len" || method == "shape") =>
            {
                let first = &self.views[0].0;
                let view =
                    Ident::new(&first.to_string(), first.span().located_at(tokens[at].span()));
                out.extend([TokenTree::from(view)]);
                Ok(at + 1)
            }
            _ => {
                let text = format!(
                    "kernel: columns are used by their elements, `{name}[i]`, and by fields of these, `{name}[i].{}`",
                    self.views[0].1
                );
                Err(Error::new(tokens[at].span(), text))
            }
        }
    }

    fn element(
        &self,
        tokens: &[TokenTree],
        at: usize,
        index: &Group,
        out: &mut TokenStream,
    ) -> syn::Result<usize> {
        let inner = self.apart(index.stream())?;
        let span = tokens[at].span();
        if let Some(field) = field_of(tokens, at + 2) {
            let Some((view, _)) = self.views.iter().find(|(_, part)| part == field) else {
                let text = format!("kernel: there is no column `{field}`");
                return Err(Error::new(field.span(), text));
            };
            let view = Ident::new(&view.to_string(), view.span().located_at(span));
            let mut same = Group::new(Delimiter::Bracket, inner);
            same.set_span(index.span());
            out.extend(quote!(#view #same));
            return Ok(at + 4);
        }
        let fields = self.views.iter().map(|(_, field)| field);
        // Each column has the index, which is computed once if it may do something.
        let (once, place) = match may_act(&inner) {
            false => (quote!(), inner),
            true => {
                let place = Ident::new("__place", Span::mixed_site().located_at(span));
                (quote_spanned!(span=> let #place = #inner;), place.to_token_stream())
            }
        };
        let indexed = |view: &Ident| {
            let view = Ident::new(&view.to_string(), view.span().located_at(span));
            let mut index = Group::new(Delimiter::Bracket, place.clone());
            index.set_span(span);
            quote!(#view #index)
        };
        let elements = self.views.iter().map(|(view, _)| indexed(view));
        if !is_assigned(tokens, at + 2) {
            let of = &self.of;
            let row = quote_spanned!(span=> #of { #(#fields: #elements),* });
            out.extend(match once.is_empty() {
                true => quote_spanned!(span=> (#row)),
                false => quote_spanned!(span=> ({ #once #row })),
            });
            return Ok(at + 2);
        }
        let rest = &tokens[at + 3..];
        let end = end_of_value(rest, is_arm(tokens, at));
        let value = self.apart(rest[..end].iter().cloned().collect())?;
        let row = Ident::new("__row", Span::mixed_site().located_at(span));
        out.extend(
            quote_spanned!(span=> { let #row = #value; #once #(#elements = #row.#fields;)* }),
        );
        Ok((at + 4 + end).min(tokens.len()))
    }
}

/// The code is an arm of a `match`, behind `=>`.
fn is_arm(tokens: &[TokenTree], at: usize) -> bool {
    let is = |back: usize, mark: char| {
        let token = at.checked_sub(back).and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(of)) if of.as_char() == mark)
    };
    is(2, '=') && is(1, '>')
}

/// Where a value that is assigned ends: at a semicolon, or in an arm at a comma that is not within
/// the value, as those of generic arguments are.
fn end_of_value(rest: &[TokenTree], arm: bool) -> usize {
    let mark = if arm { ',' } else { ';' };
    let marks = rest.iter().enumerate().filter_map(|(at, token)| match token {
        TokenTree::Punct(of) if of.as_char() == mark => Some(at),
        _ => None,
    });
    let is_whole = |end: &usize| {
        !arm || syn::parse2::<syn::Expr>(rest[..*end].iter().cloned().collect()).is_ok()
    };
    marks.into_iter().find(is_whole).unwrap_or(rest.len())
}

/// Whether an index may change something: it has a call or a block.
fn may_act(index: &TokenStream) -> bool {
    let tokens: Vec<_> = index.clone().into_iter().collect();
    let calls = |before: Option<&TokenTree>| match before {
        // `f(..)`, `f::<N>(..)`, `!(..)`
        Some(TokenTree::Punct(mark)) => ['>', '!'].contains(&mark.as_char()),
        before => matches!(before, Some(TokenTree::Ident(_))),
    };
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Brace => true,
            Delimiter::Parenthesis if calls(at.checked_sub(1).map(|at| &tokens[at])) => true,
            _ => may_act(&group.stream()),
        },
        _ => false,
    })
}

/// A field or a part of a path, and no variable.
fn is_part(tokens: &[TokenTree], at: usize) -> bool {
    let mark = |token: Option<&TokenTree>| match token {
        Some(TokenTree::Punct(mark)) => Some((mark.as_char(), mark.spacing())),
        _ => None,
    };
    let before = at.checked_sub(1).and_then(|before| mark(tokens.get(before)));
    let (after, next) = (mark(tokens.get(at + 1)), mark(tokens.get(at + 2)));
    let lets = at.checked_sub(1).and_then(|before| tokens.get(before));
    let lets = lets.is_some_and(|t| matches!(t, TokenTree::Ident(w) if w == "let" || w == "mut"));
    match (before, after) {
        (Some(('.', _)), _) => !is_twice(tokens, at, '.'),
        (Some((':', _)), _) if is_twice(tokens, at, ':') => true,
        (_, Some((':', Spacing::Joint))) => true,
        // A field of a struct literal.
        (_, Some((':', Spacing::Alone))) => !lets && next.is_none_or(|(c, _)| c != ':'),
        _ => false,
    }
}

/// Before it is this mark twice: `..`, and not a dot; `::`, and not a colon.
fn is_twice(tokens: &[TokenTree], at: usize, mark: char) -> bool {
    let is = |back: usize| {
        at.checked_sub(back)
            .and_then(|at| tokens.get(at))
            .is_some_and(|token| matches!(token, TokenTree::Punct(of) if of.as_char() == mark))
    };
    is(1) && is(2)
}

/// The field behind an element, if it is no method.
fn field_of(tokens: &[TokenTree], at: usize) -> Option<&Ident> {
    let is_call = matches!(
        tokens.get(at + 2),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis
    );
    match (tokens.get(at), tokens.get(at + 1)) {
        (Some(TokenTree::Punct(dot)), Some(TokenTree::Ident(field)))
            if dot.as_char() == '.' && !is_call =>
        {
            Some(field)
        }
        _ => None,
    }
}

/// `=` is next, and no other operator.
fn is_assigned(tokens: &[TokenTree], at: usize) -> bool {
    let is = |mark: &Punct| mark.as_char() == '=' && mark.spacing() == Spacing::Alone;
    matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if is(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        let [p, x, v] = ["p", "x", "v"].map(|name| Ident::new(name, Span::call_site()));
        let views = [("p_x", x), ("p_v", v)];
        let views = views.map(|(name, field)| (Ident::new(name, Span::call_site()), field)).into();
        Columns { name: p, of: syn::parse_quote!(Point), writes: true, views }
    }

    #[test]
    fn fields_of_elements_are_elements_of_views() {
        let seen = columns().apart(quote! {
            p[i].x += p[p[(r, 1)].v].x.sqrt();
            let a = p[i];
            p[i + 1] = f(a, p[0]);
            if p.len() > 1 { p[i] = a }
            q.p = P { p: a.p, q: p[i].v, r: a::p };
            let b = p[f(&mut j)];
            p[x[{ j += 1; j }]] = b;
        });
        let wanted = quote! {
            p_x[i] += p_x[p_v[(r, 1)]].sqrt();
            let a = (Point { x: p_x[i], v: p_v[i] });
            { let __row = f(a, (Point { x: p_x[0], v: p_v[0] })); p_x[i + 1] = __row.x; p_v[i + 1] = __row.v; }
            if p_x.len() > 1 { { let __row = a; p_x[i] = __row.x; p_v[i] = __row.v; } }
            q.p = P { p: a.p, q: p_v[i], r: a::p };
            let b = ({ let __place = f(&mut j); Point { x: p_x[__place], v: p_v[__place] } });
            { let __row = b; let __place = x[{ j += 1; j }]; p_x[__place] = __row.x; p_v[__place] = __row.v; }
        };
        assert_eq!(seen.map(|seen| seen.to_string()).unwrap_or_default(), wanted.to_string());
    }

    /// Behind `=>` a value ends at a comma, which one of generic arguments is not.
    #[test]
    fn arms_assign_without_braces() {
        let seen = columns().apart(quote! {
            match k {
                0 => p[i] = f::<A, B>(a),
                1 => p[0] = a,
                _ => p[1] = b
            }
        });
        let wanted = quote! {
            match k {
                0 => { let __row = f::<A, B>(a); p_x[i] = __row.x; p_v[i] = __row.v; }
                1 => { let __row = a; p_x[0] = __row.x; p_v[0] = __row.v; }
                _ => { let __row = b; p_x[1] = __row.x; p_v[1] = __row.v; }
            }
        };
        assert_eq!(seen.map(|seen| seen.to_string()).unwrap_or_default(), wanted.to_string());
    }

    /// `a` with a column `b_c`, and `a_b` with a column `c`.
    #[test]
    fn columns_of_two_parameters_have_names_of_their_own() {
        let known = [quote!(Left { b_c: u32 }), quote!(Right { c: u32 })].map(|of| {
            let of: syn::ItemStruct = syn::parse_quote!(struct #of);
            let syn::Fields::Named(fields) = of.fields else { unreachable!() };
            KnownStruct { name: of.ident, fields }
        });
        let item = quote! {
            fn k(i: Item, a: InColumns<Left>, a_b: OutColumns<Right>) { a_b[i].c = a[i].b_c; }
        };
        let (item, all) = apart(item, &known).unwrap_or_else(|error| panic!("{error}"));
        assert!(item.to_string().contains("a_b_c_ [i] = a_b_c [i]"), "{item}");
        assert_eq!(all[1].text(&all[1].views[0].0).as_deref(), Some("a_b.c"));
    }

    #[test]
    fn columns_as_a_whole_and_others_are_refused() {
        for code in [quote!(f(p)), quote!(let p = 1;), quote!(p[i].y = 1.0;)] {
            assert!(columns().apart(code.clone()).is_err(), "{code}");
        }
    }
}
