//! Functions: signatures, and what is made of them.

use crate::body::{NOTHING_RETURNED, Rights, Special, Walk};
use crate::parameter::{Parameter, Role, argument_of, grid_of, rank_of, role_is_plain, role_of};
use crate::refused::{refuse_atomic, refuse_in_memory, refuse_rank, refuse_type};
use crate::tree::Tree;
use crate::{
    combine, conditions, deep, entry, fragments, methods, names, outputs, positions, stub,
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, FnArg, GenericParam, Generics, ItemFn, Meta, MetaNameValue, Pat, ReturnType,
    Token, Type, Visibility,
};

/// What a function becomes.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// Launched.
    Kernel,
    /// Called by kernels.
    Device,
    /// The same, in an `impl`.
    Method,
}

/// Expands an attribute.
pub fn expand(arguments: TokenStream, item: TokenStream, kind: Kind) -> TokenStream {
    if let Some(at) = deep::find(&arguments).or_else(|| deep::find(&item)) {
        return syn::Error::new(at, format!("kernel: {}", deep::TEXT)).to_compile_error();
    }
    let (arguments, item) = (fragments::opened(arguments), fragments::opened(item));
    let item = positions::opened(item);
    let mut function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let named =
                |error: &syn::Error| syn::Error::new(error.span(), format!("kernel: {error}"));
            if let Ok((vis, name)) = name_of.parse2(item.clone()) {
                let nothing = (&Generics::default(), 0);
                return stub::of_function(&vis, &name, nothing, &named(&error));
            }
            let is_impl = |token| matches!(token, TokenTree::Ident(word) if word == "impl");
            if kind == Kind::Device && item.clone().into_iter().any(is_impl) {
                return match syn::parse2(item) {
                    Ok(item) => methods::expand(&item),
                    Err(error) => named(&error).to_compile_error(),
                };
            }
            let text = match kind {
                Kind::Kernel => "kernel: this attribute is for functions: `fn name(..) { .. }`",
                Kind::Device | Kind::Method => {
                    "kernel: this attribute is for functions and `impl`s of structs"
                }
            };
            return syn::Error::new(item.span(), text).to_compile_error();
        }
    };
    combine::resolve(&mut function.sig);
    let mut walk = Walk::default();
    walk.ends_items = kind == Kind::Kernel;
    walk.name = Some(function.sig.ident.clone());
    let parameters = function.sig.generics.type_params();
    walk.kinds.parameters = parameters.map(|ty| ty.ident.to_string()).collect();
    walk.generic = !walk.kinds.parameters.is_empty();
    let asked = Asked::read(arguments, kind, &mut walk);
    let parts = Signature::read(&function.sig, kind, asked, &mut walk);
    let (native, tree) = walk.whole(&function.sig, &function.block);
    if kind == Kind::Kernel {
        outputs::check(&function.sig, &function.block, &mut walk.errors);
    }
    if let Some(error) = std::mem::take(&mut walk.errors).take() {
        let takes = (&function.sig.generics, given(&function.sig, kind));
        return stub::of_function(&function.vis, &function.sig.ident, takes, &error);
    }
    conditions::add(&mut function.sig);
    parts.emit(&function, kind, &walk, &native, tree)
}

/// What begins as a function, and goes on as whatever.
fn name_of(input: ParseStream<'_>) -> syn::Result<(Visibility, Ident)> {
    input.call(Attribute::parse_outer)?;
    let vis = input.parse()?;
    while !input.peek(Token![fn]) {
        input.call(Ident::parse_any)?;
    }
    input.parse::<Token![fn]>()?;
    let name = input.parse()?;
    input.parse::<TokenStream>()?;
    Ok((vis, name))
}

/// How many arguments calls have. A kernel's item or group, and its local memory, are none.
fn given(signature: &syn::Signature, kind: Kind) -> usize {
    let is_given = |input: &&FnArg| match input {
        FnArg::Typed(typed) if kind == Kind::Kernel => {
            matches!(role_of(&typed.ty).0, Role::View | Role::Reduce | Role::Value)
        }
        _ => true,
    };
    signature.inputs.iter().filter(is_given).count()
}

/// What the attribute says.
#[derive(Default)]
pub struct Asked {
    /// The group's size: `group = 256`, `group = [16, 16]`.
    group: Vec<Expr>,
    /// `contract`.
    contract: bool,
}

impl Asked {
    fn read(arguments: TokenStream, kind: Kind, walk: &mut Walk) -> Asked {
        let mut asked = Asked::default();
        if arguments.is_empty() {
            return asked;
        }
        let span = arguments.span();
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        for argument in parser.parse2(arguments).into_iter().flatten() {
            match argument {
                Meta::NameValue(MetaNameValue { path, value, .. })
                    if path.is_ident("group") && kind == Kind::Kernel && asked.group.is_empty() =>
                {
                    asked.group = match value {
                        Expr::Array(sizes) => sizes.elems.into_iter().collect(),
                        size => vec![size],
                    };
                }
                Meta::Path(path) if path.is_ident("contract") && kind == Kind::Kernel => {
                    asked.contract = true;
                }
                _ => {
                    walk.refuse(span, Asked::what(kind));
                    return Asked::default();
                }
            }
        }
        for size in &asked.group {
            names::refuse(size.to_token_stream(), &mut HashSet::new(), &mut walk.errors);
        }
        if asked.group.is_empty() && !asked.contract {
            walk.refuse(span, Asked::what(kind));
        }
        asked
    }

    fn what(kind: Kind) -> &'static str {
        match kind {
            Kind::Kernel => {
                "the arguments are a group's size, `group = 256` or `group = [16, 16]`, and `contract`"
            }
            Kind::Device | Kind::Method => "this attribute takes no arguments",
        }
    }
}

/// What a function takes.
pub struct Signature {
    pub parameters: Vec<Parameter>,
    /// Items of a group, if the attribute says.
    pub group: Vec<Expr>,
    /// Whether it asks for contraction.
    contract: bool,
}

impl Signature {
    pub fn read(
        signature: &syn::Signature,
        kind: Kind,
        Asked { group, contract }: Asked,
        walk: &mut Walk,
    ) -> Signature {
        if let Some(token) = &signature.asyncness {
            walk.refuse(token.span(), "kernels cannot be async");
        }
        if let Some(token) = &signature.unsafety {
            walk.refuse(token.span(), "kernels are safe functions; use an opaque kernel");
        }
        if let Some(abi) = &signature.abi {
            walk.refuse(abi.span(), "kernels have no ABI; remove `extern`");
        }
        if let Some(token) = &signature.variadic {
            walk.refuse(token.span(), "kernels take a fixed number of parameters");
        }
        for parameter in &signature.generics.params {
            match parameter {
                GenericParam::Lifetime(lifetime) => {
                    let text = "kernels cannot have lifetimes; values are copied";
                    walk.refuse(lifetime.span(), text);
                }
                GenericParam::Type(ty) if combine::is_one(&ty.ident) => {
                    let text = format!(
                        "`{}` is what reductions combine with; give the type parameter another name",
                        ty.ident
                    );
                    walk.refuse(ty.span(), text);
                }
                GenericParam::Type(ty)
                    if kind != Kind::Method && !conditions::is_bound(ty, &signature.generics) =>
                {
                    let text = format!("say what `{0}` can be: `{0}: Number`", ty.ident);
                    walk.refuse(ty.span(), text);
                }
                GenericParam::Type(_) | GenericParam::Const(_) => {}
            }
        }
        if let (Kind::Kernel, ReturnType::Type(_, ty)) = (kind, &signature.output) {
            walk.refuse(ty.span(), NOTHING_RETURNED);
        }
        if let (Kind::Device | Kind::Method, ReturnType::Type(_, ty)) = (kind, &signature.output)
            && role_of(ty).0 != Role::Value
        {
            let text = "a device function gives a value: a number, an array, a tuple, a struct; index views, and give \
                `i.index()` for an item";
            walk.refuse(ty.span(), text);
        }
        if let (Kind::Device | Kind::Method, ReturnType::Type(_, ty)) = (kind, &signature.output) {
            refuse_type(ty, walk);
        }
        walk.scopes.enter();
        let mut parameters = vec![];
        for argument in &signature.inputs {
            let typed = match argument {
                FnArg::Typed(typed) => typed,
                FnArg::Receiver(of)
                    if kind == Kind::Method
                        && of.reference.is_none()
                        && of.colon_token.is_none() =>
                {
                    let name = Ident::from(of.self_token);
                    walk.parameter(&name, Special::None, of.mutability.is_some());
                    let ty = Type::Verbatim(quote_spanned!(of.self_token.span => Self));
                    // It cannot be bound again.
                    let (role, mutable) = (Role::Value, false);
                    parameters.push(Parameter { name, ty, role, mutable });
                    continue;
                }
                FnArg::Receiver(of) => {
                    let text = match kind {
                        Kind::Method => "take `self` by value; it is copied",
                        _ => "`self` is for functions in an `impl` with #[device_fn]",
                    };
                    walk.refuse(of.span(), text);
                    continue;
                }
            };
            let name = match &*typed.pat {
                Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => name,
                other => {
                    walk.refuse(other.span(), "give the parameter a name");
                    continue;
                }
            };
            if name.ident.unraw().to_string().starts_with("__") {
                let text = "names that begin with `__` are the macro's; give the parameter another";
                walk.refuse(name.span(), text);
            }
            refuse_type(&typed.ty, walk);
            refuse_rank(&typed.ty, walk);
            refuse_atomic(&typed.ty, walk);
            if kind == Kind::Kernel {
                refuse_in_memory(&typed.ty, walk);
                if names::is_open(typed.ty.to_token_stream()) {
                    let text = "a parameter's type is written without macros; give it a name: `type T = ..`";
                    walk.refuse(typed.ty.span(), text);
                }
            }
            let (role, special) = role_of(&typed.ty);
            // Writing through a view takes it as mutable.
            let mutable = matches!(role, Role::View | Role::Local) || name.mutability.is_some();
            let at = walk.parameter(&name.ident, special, role == Role::Value && mutable);
            if role == Role::Item(1) {
                walk.item = Some(at);
            }
            walk.grids.extend(grid_of(&typed.ty).map(|grid| (at, grid)));
            walk.rights.extend(Rights::of(&typed.ty).map(|rights| (at, rights)));
            walk.kinds.parameter(at, &typed.ty);
            if kind == Kind::Kernel {
                match role {
                    Role::Item(rank) => walk.known.item(at, rank),
                    Role::Group(rank) => walk.known.group(at, rank),
                    Role::Local if special == Special::Local => walk.known.local(at, &typed.ty),
                    Role::View if role_is_plain(&typed.ty) => {
                        walk.known.view(at, rank_of(&typed.ty));
                    }
                    Role::Value if !mutable => {
                        walk.known.value(at, &name.ident);
                        walk.plan.same(at);
                    }
                    _ => {}
                }
            }
            let (name, ty) = (name.ident.clone(), (*typed.ty).clone());
            parameters.push(Parameter { name, ty, role, mutable });
        }
        let grid = |p: &Parameter| matches!(p.role, Role::Item(_) | Role::Group(_));
        let first = parameters.first().filter(|p| grid(p)).map(|p| p.role);
        let one = first.is_some() && parameters.iter().filter(|p| grid(p)).count() == 1;
        if kind == Kind::Kernel && !one {
            let text = "a kernel's first parameter is its item or group, and no other: `i: Item`, `g: Group`";
            walk.refuse(signature.ident.span(), text);
        }
        walk.placed = kind != Kind::Kernel || first.is_some();
        let grouped = matches!(first, Some(Role::Group(_))) && kind == Kind::Kernel;
        if let Some(Role::Group(rank)) = first
            && !group.is_empty()
            && group.len() != usize::from(rank)
        {
            let text = format!("the group has {rank} dimension(s), but its size {}", group.len());
            walk.refuse(group[0].span(), text);
        } else if let (false, Some(size)) = (grouped, group.first()) {
            walk.refuse(size.span(), "only kernels of groups have a group's size: `g: Group`");
        }
        for parameter in &parameters {
            let text = match (parameter.role, kind) {
                (Role::Local, _) if !grouped => "local memory is of kernels of groups: `g: Group`",
                (Role::Group(_), Kind::Device | Kind::Method) => {
                    "device functions have no phases; write them in the kernel"
                }
                _ => continue,
            };
            walk.refuse(parameter.ty.span(), text);
        }
        if grouped {
            walk.begin_group();
        }
        let plain = parameters.iter().all(|p| match p.role {
            Role::Item(_) => true,
            Role::View => role_is_plain(&p.ty),
            Role::Value => !p.mutable,
            _ => false,
        });
        if let (Kind::Kernel, true, Some(item)) = (kind, plain, parameters.first()) {
            walk.plan.begin(&item.name);
        }
        // The table has the parameters and the result first.
        walk.first = parameters.len() + 1;
        Signature { parameters, group, contract }
    }

    fn emit(
        &self,
        function: &ItemFn,
        kind: Kind,
        walk: &Walk,
        native: &TokenStream,
        tree: Tree,
    ) -> TokenStream {
        let (name, vis, output) = (&function.sig.ident, &function.vis, &function.sig.output);
        let generics = &function.sig.generics;
        let (params, arguments, conditions) = generics.split_for_impl();
        let markers = generics.type_params().map(|p| &p.ident);
        let (mut names, mut types) = (self.names(), self.types());
        let attributes = attributes();
        let strips = if kind == Kind::Kernel { walk.strips() } else { None };
        let [block, proof] =
            ["__block", "__proof"].map(|name| Ident::new(name, Span::mixed_site()));
        let (body, probe) = match &strips {
            None if kind == Kind::Kernel => (self.body(walk, output, native), self.probe_kernel()),
            None => (self.body(walk, output, native), self.probe(&quote!(Self::__body))),
            // Of all items in place of one.
            Some(strips) => {
                (names[0], types[0]) = (&block, quote!(::folio::ir::device::Block<'_>));
                let body = self.body(walk, output, &entry::strips(self, strips, &block));
                (body, self.probe_strips())
            }
        };
        if kind == Kind::Kernel {
            // Kernels have indices that are not checked where they are proved.
            names.insert(0, &proof);
            types.insert(0, quote!(::folio::ir::device::Proof<__M>));
        }
        let described = self.described(name, tree, &probe);
        // Once for all: what a macro gives may differ from place to place.
        let sizes = &self.group;
        let sizes = self
            .grouped()
            .then(|| quote!(const __GROUP: &'static [::core::primitive::usize] = &[#(#sizes),*];));
        let made = match kind {
            Kind::Kernel => self.kernel(function, walk, strips.is_some()),
            Kind::Device | Kind::Method => self.plain(function),
        };
        // Kernels are launched: who calls one finds nothing.
        let (at, what) = match kind {
            Kind::Kernel => (quote!(), quote!()),
            Kind::Device | Kind::Method => (
                quote! {
                    #[doc(hidden)]
                    #[inline(always)]
                    #[allow(missing_docs, reason = "hidden")]
                    #vis fn __at<__M: ::folio::ir::device::Mode>(
                        _: &::folio::ir::device::Slot<::folio::ir::device::Callee<Self>>,
                    ) -> fn(#(#types),*) #output {
                        Self::__body::<__M>
                    }
                },
                quote! {
                    impl #params ::folio::ir::device::Inlined for #name #arguments #conditions {
                        const FUNCTION: &'static ::folio::ir::source::Function = &Self::__FUNCTION;
                    }
                },
            ),
        };
        quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, missing_docs, missing_debug_implementations, private_bounds,
                reason = "it has the function's name, and is hidden")]
            #vis struct #name #params #conditions { __of: ::core::marker::PhantomData<(#(#markers,)*)> }
            #attributes
            impl #params #name #arguments #conditions {
                #[inline(always)]
                fn __body<__M: ::folio::ir::device::Mode>(#(#names: #types),*) #output #body
                #at
                #sizes
                const __FUNCTION: ::folio::ir::source::Function = #described;
            }
            #what
            #made
        }
    }

    pub fn has_views(&self) -> bool {
        self.parameters.iter().any(|p| p.role != Role::Value)
    }

    pub fn names(&self) -> Vec<&Ident> {
        self.parameters.iter().map(|p| &p.name).collect()
    }

    /// The types that the Rust form takes.
    pub fn types(&self) -> Vec<TokenStream> {
        self.parameters.iter().map(|p| p.native(self.grouped())).collect()
    }

    /// Parameters that the body may change.
    pub fn bindings(&self) -> TokenStream {
        let mutable = self.parameters.iter().filter(|p| p.mutable).map(|p| &p.name);
        quote!(#(let mut #mutable = #mutable;)*)
    }

    /// The body of the Rust form: it runs, or tells its types. Those are asked for behind what they
    /// follow from: asked for before, each waits, and rustc looks at all that wait again and again.
    pub fn body(&self, walk: &Walk, output: &ReturnType, native: &TokenStream) -> TokenStream {
        let entries = self.parameters.iter().map(Parameter::entry);
        let result = match output {
            ReturnType::Default => quote!(|| __s::Entry::Unit),
            ReturnType::Type(_, ty) => quote_spanned! {ty.span()=>
                <#ty as ::folio::ir::device::Slotted>::entry
            },
        };
        let (slots, more) = (&walk.slots, &walk.entries);
        let bindings = self.bindings();
        quote! {{
            use ::folio::ir::source as __s;
            #(#slots)*
            if !<__M as ::folio::ir::device::Mode>::PROBE {
                #bindings
                return #native;
            }
            ::folio::ir::device::probe(&[
                #(#entries,)* #result, #((#more) as fn() -> __s::Entry),*
            ]);
            ::folio::ir::device::nothing()
        }}
    }

    /// A Rust form, asked for its types.
    pub fn probe(&self, body: &TokenStream) -> TokenStream {
        let nothing = self.parameters.iter().map(|p| p.nothing(self.grouped()));
        quote!(let _ = #body::<::folio::ir::device::Probe>(#(#nothing),*);)
    }

    /// A kernel's, asked for its types.
    fn probe_kernel(&self) -> TokenStream {
        let (proof, nothing) =
            (probing(), self.parameters.iter().map(|p| p.nothing(self.grouped())));
        quote!(Self::__body::<::folio::ir::device::Probe>(#proof #(, #nothing)*);)
    }

    /// The form for strips, asked for its types.
    fn probe_strips(&self) -> TokenStream {
        let mut nothing = self.parameters.iter().map(|p| p.nothing(false));
        let (proof, item, rank) = (probing(), nothing.next(), self.rank());
        let block = quote!(::folio::ir::device::Block::none::<#rank>(#item));
        quote!(Self::__body::<::folio::ir::device::Probe>(#proof, #block #(, #nothing)*);)
    }

    /// What is said of the function, as a constant; `probe` asks a Rust form for its types.
    pub fn described(&self, name: &Ident, tree: Tree, probe: &TokenStream) -> TokenStream {
        let (text, tree) = (name.unraw().to_string(), tree.text());
        let contract = self.contract;
        let group = if self.grouped() { quote!(Self::__GROUP) } else { quote!(&[]) };
        let texts = self.parameters.iter().map(|p| p.name.unraw().to_string());
        quote! {{
            use ::folio::ir::source as __s;
            static __TREE: __s::Text = __s::Text(#tree);
            __s::Function {
                name: #text,
                file: ::core::file!(),
                group: #group,
                contract: #contract,
                params: &[#(#texts),*],
                body: &__TREE,
                table: || ::folio::ir::device::record(|| { #probe }),
            }
        }}
    }

    /// A kernel of groups.
    pub fn grouped(&self) -> bool {
        self.parameters.iter().any(|p| matches!(p.role, Role::Group(_)))
    }

    /// A kernel's entries.
    fn kernel(&self, function: &ItemFn, walk: &Walk, strips: bool) -> TokenStream {
        let name = &function.sig.ident;
        let (params, arguments, conditions) = function.sig.generics.split_for_impl();
        let rank = self.rank();
        let unproved = &walk.known.unproved;
        let guards = self.guards(&walk.known.undecided);
        let in_groups =
            self.grouped().then(|| quote!(let __in = __launch.in_groups::<#rank>(__block);));
        let made = entry::made(self);
        let each = entry::each(self, strips);
        let code = match function.sig.generics.params.is_empty() {
            true => quote! {
                static CODE: ::std::sync::OnceLock<::folio::ir::device::Built> =
                    ::std::sync::OnceLock::new();
                ::folio::ir::device::built(&CODE, &Self::__FUNCTION)
            },
            false => quote!(::folio::ir::device::code_of::<Self>()),
        };
        let call = self.call(function);
        quote! {
            // SAFETY: the Rust form and the tree come from one walk over one body; views stay
            // within their memory.
            unsafe impl #params ::folio::ir::device::Kernel for #name #arguments #conditions {
                const FUNCTION: &'static ::folio::ir::source::Function = &Self::__FUNCTION;
                fn code() -> &'static ::folio::ir::device::Built {
                    #code
                }
                #[allow(unused_variables, clippy::all, reason = "written by a macro")]
                unsafe fn unproved(
                    __scalars: &[::core::primitive::u64],
                    __memory: &[::folio::ir::device::ParamPtr],
                    __block: &::folio::ir::device::Positions,
                    __launch: &::folio::ir::device::Launched,
                ) -> ::core::primitive::usize {
                    use ::folio::ir::device::Ends as __Ends;
                    #(#made)*
                    let __at = __Ends::positions::<#rank>(__block);
                    #in_groups
                    0 #(+ #unproved)*
                }
                #guards
                #[allow(unused_variables, clippy::indexing_slicing, reason = "written by a macro")]
                #[inline(always)]
                unsafe fn items<__M: ::folio::ir::device::Mode>(
                    __scalars: &[::core::primitive::u64],
                    __memory: &[::folio::ir::device::ParamPtr],
                    __block: &::folio::ir::device::Positions,
                    __launch: &::folio::ir::device::Launched,
                ) {
                    #(#made)*
                    #each
                }
            }
            #call
        }
    }

    /// What looks at a kernel's guards, and computes what is in the interior of all of them.
    fn guards(&self, undecided: &[TokenStream]) -> TokenStream {
        if undecided.is_empty() {
            return quote!();
        }
        let (rank, made) = (self.rank(), entry::made(self));
        quote! {
            #[allow(unused_variables, clippy::all, reason = "written by a macro")]
            unsafe fn undecided(
                __scalars: &[::core::primitive::u64],
                __memory: &[::folio::ir::device::ParamPtr],
                __block: &::folio::ir::device::Positions,
                __launch: &::folio::ir::device::Launched,
            ) -> ::core::option::Option<::core::primitive::usize> {
                use ::folio::ir::device::Ends as __Ends;
                #(#made)*
                let __at = __Ends::positions::<#rank>(__block);
                ::core::option::Option::Some(0 #(+ #undecided)*)
            }
            unsafe fn interior(
                __scalars: &[::core::primitive::u64],
                __memory: &[::folio::ir::device::ParamPtr],
                __block: &::folio::ir::device::Positions,
                __launch: &::folio::ir::device::Launched,
            ) {
                // SAFETY: the caller's promise.
                unsafe { ::folio::ir::device::best::<Self, true>(__scalars, __memory, __block, __launch) }
            }
        }
    }

    /// The rank of a kernel's item or group.
    pub fn rank(&self) -> Option<usize> {
        self.parameters.iter().find_map(|p| match p.role {
            Role::Item(rank) | Role::Group(rank) => Some(usize::from(rank)),
            _ => None,
        })
    }

    /// The function that users call: it makes a call of its arguments.
    fn call(&self, function: &ItemFn) -> TokenStream {
        let (attributes, vis, name) = (&function.attrs, &function.vis, &function.sig.ident);
        let (params, arguments, conditions) = function.sig.generics.split_for_impl();
        let rank = self.rank();
        let is_given = |p: &&Parameter| matches!(p.role, Role::View | Role::Reduce | Role::Value);
        let given: Vec<_> = self.parameters.iter().filter(is_given).collect();
        let names: Vec<_> = given.iter().map(|p| &p.name).collect();
        let types = |lent: bool| -> Vec<TokenStream> {
            let ty_of = |Parameter { ty, role, .. }: &&Parameter| match (role, lent) {
                (Role::Value, _) => quote!(#ty),
                (_, true) => quote_spanned!(ty.span() => impl ::folio::HostArgument<#ty>),
                (_, false) => {
                    let kind = argument_of(ty);
                    quote_spanned!(ty.span() => impl ::folio::arguments::#kind<#ty>)
                }
            };
            given.iter().map(ty_of).collect()
        };
        let (lent, types) = (types(true), types(false));
        // Not as methods: a trait of the user's may have others of these names.
        let passed = |to: &TokenStream| -> TokenStream {
            let each = self.parameters.iter().map(|Parameter { name, ty, role, .. }| match role {
                Role::View | Role::Reduce => quote!(#to::memory::<#ty>(&mut __call, #name);),
                Role::Value => quote!(#to::value(&mut __call, #name);),
                // No argument, but a parameter.
                Role::Local => quote!(#to::local(&mut __call);),
                Role::Item(_) | Role::Group(_) => quote!(),
            });
            quote!(#(#each)*)
        };
        let (passed, lent_to) =
            (passed(&quote!(::folio::KernelCall)), passed(&quote!(::folio::HostCall)));
        // Where rustc has nowhere to put a type parameter it proposes none for an unknown type:
        // then what it says here is what it says everywhere, once.
        let own = match function.sig.generics.params.is_empty() {
            true => quote!(<>),
            false => quote!(#params),
        };
        quote! {
            #(#attributes)*
            #[allow(clippy::too_many_arguments, reason = "kernels take what they need")]
            #vis fn #name #own (#(#names: #types),*)
                -> ::folio::KernelCall<#name #arguments, #rank> #conditions
            {
                // SAFETY: the arguments follow in the order of the parameters, which they fit.
                unsafe {
                    let mut __call = ::folio::KernelCall::begin();
                    #passed
                    __call
                }
            }
            impl #params #name #arguments #conditions {
                /// Runs it on slices, here and now: for tests, and debuggers.
                #[allow(dead_code, clippy::too_many_arguments, reason = "for who wants it")]
                #vis fn host(
                    __items: impl ::core::convert::Into<::folio::Items<#rank>> #(, #names: #lent)*
                ) -> ::folio::Result<()> {
                    // SAFETY: as for a call; what is lent is borrowed until this returns.
                    let __call = unsafe {
                        let mut __call = ::folio::HostCall::<#name #arguments, #rank>::begin();
                        #lent_to
                        __call
                    };
                    ::folio::HostCall::run(__call, __items)
                }
            }
        }
    }

    /// A device function as an ordinary one, if it takes no views.
    fn plain(&self, function: &ItemFn) -> TokenStream {
        if self.has_views() {
            return quote!();
        }
        let (attributes, vis, signature) = (&function.attrs, &function.vis, &function.sig);
        let name = &signature.ident;
        let (params, arguments, conditions) = signature.generics.split_for_impl();
        let turbofish = arguments.as_turbofish();
        let names: Vec<_> = self.parameters.iter().map(|p| &p.name).collect();
        let types: Vec<_> = self.parameters.iter().map(|p| &p.ty).collect();
        let output = &signature.output;
        quote! {
            #(#attributes)*
            #vis fn #name #params (#(#names: #types),*) #output #conditions {
                #name #turbofish::__body::<::folio::ir::device::Checked>(#(#names),*)
            }
        }
    }
}

/// With this a body is only asked for its types.
fn probing() -> TokenStream {
    quote! {
        // SAFETY: it computes nothing.
        unsafe { ::folio::ir::device::Proof::new() }
    }
}

/// What is allowed in what the macro writes.
pub fn attributes() -> TokenStream {
    quote! {
        #[allow(unused_mut, unused_parens, unused_braces, unused_imports, unused_variables, non_snake_case, elided_lifetimes_in_paths,
            non_upper_case_globals, unreachable_code, clippy::all, clippy::pedantic, clippy::panic,
            reason = "written by a macro")]
    }
}
