//! The items that are made of a function: its Rust form, the constant that describes it, and the
//! parts that launches and calls need.

use crate::body::Walk;
use crate::columns::Columns;
use crate::entry;
use crate::function::Kind;
use crate::parameter::{Hidden, Parameter, Role, argument_of};
use crate::pattern::same;
use crate::signature::{CHECKED, Signature};
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{ItemFn, ReturnType};

impl Signature {
    /// The whole function.
    pub fn emit(
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
        let (attributes, lints) = (attributes(), lints(&function.attrs));
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
        let described = self.described(name, tree, &probe, Some(walk));
        // Once for all: what a macro gives may differ from place to place.
        let sizes = &self.group;
        let sizes = self
            .grouped()
            .then(|| quote!(const __GROUP: &'static [::folio::ir::device::rust::primitive::usize] = &[#(#sizes),*];));
        let block = &self.block;
        let block = (!block.is_empty()).then(|| {
            quote! {
                const __BLOCK: &'static [::folio::ir::device::rust::primitive::usize] =
                    &::folio::ir::device::block([#(#block),*]);
            }
        });
        let sizes = quote!(#sizes #block);
        let made = match kind {
            Kind::Kernel => self.kernel(function, walk, strips.is_some()),
            Kind::Device | Kind::Method => self.plain(function),
        };
        let [of_closures, ..] = self.closures();
        let names_of_closures =
            self.parameters.iter().filter(|p| p.role == Role::Closure).map(Parameter::closure);
        let names_of_closures: Vec<_> = names_of_closures.collect();
        // Kernels are launched: who calls one finds nothing.
        let (at, what) = match kind {
            Kind::Kernel => (quote!(), quote!()),
            Kind::Device | Kind::Method => (
                quote! {
                    #[doc(hidden)]
                    #[inline(always)]
                    #[allow(missing_docs, reason = "hidden")]
                    #vis fn __at<__M: ::folio::ir::device::Mode #(, #of_closures)*>()
                        -> ::folio::ir::device::Form<Self, __M, fn(#(#types),*) #output>
                    {
                        // SAFETY: both forms are of one body.
                        unsafe {
                            ::folio::ir::device::Form::new(
                                Self::__body::<__M #(, #names_of_closures)*>,
                            )
                        }
                    }
                },
                quote! {
                    // SAFETY: both forms are of one body.
                    unsafe impl #params ::folio::ir::device::Inlined for #name #arguments #conditions {
                        const FUNCTION: &'static ::folio::ir::source::Function = &Self::__FUNCTION;
                    }
                },
            ),
        };
        quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types, missing_docs, missing_debug_implementations, private_bounds,
                reason = "it has the function's name, and is hidden")]
            #vis struct #name #params #conditions { __of: ::folio::ir::device::rust::marker::PhantomData<(#(#markers,)*)> }
            #attributes
            impl #params #name #arguments #conditions {
                #lints
                #[inline(always)]
                fn __body<__M: ::folio::ir::device::Mode #(, #of_closures)*>(
                    #(#names: #types),*
                ) #output #body
                #at
                #sizes
                const __FUNCTION: ::folio::ir::source::Function = #described;
            }
            #what
            #made
        }
    }

    /// The body of the Rust form: it runs, or tells its types. Types are asked for behind the
    /// expressions that they follow from: asked for before, each waits, and rustc looks at all that
    /// wait again and again.
    pub fn body(&self, walk: &Walk, output: &ReturnType, native: &TokenStream) -> TokenStream {
        let entries = self.parameters.iter().map(Parameter::entry);
        let result = match output {
            ReturnType::Default => quote!(|| __s::Entry::Unit),
            ReturnType::Type(_, ty) => quote_spanned! {ty.span()=>
                <#ty as ::folio::ir::device::Slotted>::entry
            },
        };
        let (slots, more) = (&walk.slots, &walk.entries);
        let (bindings, constants) = (self.bindings(), walk.constants());
        quote! {{
            use ::folio::ir::source as __s;
            #constants
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
        let [_, closures, _] = self.closures();
        quote!(let _ = #body::<::folio::ir::device::Probe #(, #closures)*>(#(#nothing),*);)
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

    /// The constant that describes the function; `probe` asks a Rust form for its types.
    pub fn described(
        &self,
        name: &Ident,
        tree: Tree,
        probe: &TokenStream,
        walk: Option<&Walk>,
    ) -> TokenStream {
        let (text, tree) = (name.unraw().to_string(), tree.text());
        let (floats, deny_checks) = (self.floats, self.deny_checks);
        let place = |(line, column): &(u32, u32)| quote!((#line, #column));
        let looked_at = walk.into_iter().flat_map(|walk| &walk.looked_at).map(place);
        let item_by_item = match walk.and_then(Walk::unfit) {
            None => quote!(::folio::ir::device::rust::option::Option::None),
            Some(at) => {
                let at = place(&at);
                quote!(::folio::ir::device::rust::option::Option::Some(#at))
            }
        };
        let group = if self.grouped() { quote!(Self::__GROUP) } else { quote!(&[]) };
        let block = if self.block.is_empty() { quote!(&[]) } else { quote!(Self::__BLOCK) };
        let texts = self.parameters.iter().map(|p| p.text(&self.columns));
        // Cargo compiles the crate anew when the variable changes.
        let depends = quote! {
            const _: bool = ::folio::ir::device::rust::option_env!(#CHECKED).is_some();
        };
        let printed = walk.map(Walk::printed_texts).unwrap_or_default();
        quote! {{
            use ::folio::ir::source as __s;
            #depends
            static __TREE: __s::Text = __s::Text(#tree);
            __s::Function {
                name: #text,
                file: ::folio::ir::device::rust::file!(),
                group: #group,
                block: #block,
                floats: __s::Floats::#floats,
                deny_checks: #deny_checks,
                looked_at: &[#(#looked_at),*],
                item_by_item: #item_by_item,
                params: &[#(#texts),*],
                printed: &[#(#printed),*],
                body: &__TREE,
                table: || ::folio::ir::device::record(|| { #probe }),
            }
        }}
    }

    /// A kernel's entries.
    fn kernel(&self, function: &ItemFn, walk: &Walk, strips: bool) -> TokenStream {
        let name = &function.sig.ident;
        let (params, arguments, conditions) = function.sig.generics.split_for_impl();
        let rank = self.rank();
        let unproved = &walk.known.unproved;
        let guards = self.guards(&walk.known.undecided, &walk.constants());
        let constants = walk.constants();
        let in_groups =
            self.grouped().then(|| quote!(let __in = __launch.in_groups::<#rank>(__block);));
        let made = entry::made(self);
        let each = entry::each(self, strips);
        let code = match function.sig.generics.params.is_empty() {
            true => quote! {
                static CODE: ::folio::ir::device::rust::sync::OnceLock<::folio::ir::device::Built> =
                    ::folio::ir::device::rust::sync::OnceLock::new();
                ::folio::ir::device::built(&CODE, &Self::__FUNCTION)
            },
            false => quote!(::folio::ir::device::code_of::<Self>()),
        };
        let call = self.call(function, walk);
        quote! {
            // SAFETY: the Rust form and the tree come from one walk over one body; views stay
            // within their memory.
            unsafe impl #params ::folio::ir::device::Kernel for #name #arguments #conditions {
                const FUNCTION: &'static ::folio::ir::source::Function = &Self::__FUNCTION;
                const IN_DEVELOPMENT: ::folio::ir::device::rust::primitive::bool =
                    ::folio::ir::device::rust::cfg!(debug_assertions);
                fn code() -> &'static ::folio::ir::device::Built {
                    #code
                }
                #[allow(unused_variables, clippy::all, reason = "written by a macro")]
                unsafe fn unproved(
                    __scalars: &[::folio::ir::device::rust::primitive::u64],
                    __memory: &[::folio::ir::device::ParamPtr],
                    __block: &::folio::ir::device::Positions,
                    __launch: &::folio::ir::device::Launched,
                    __gaps: &::folio::ir::device::Gaps,
                ) -> ::folio::ir::device::rust::primitive::usize {
                    use ::folio::ir::device::Ends as __Ends;
                    #constants
                    #(#made)*
                    let __at = __Ends::positions::<#rank>(__block);
                    #in_groups
                    0 #(+ #unproved)*
                }
                #guards
                #[allow(unused_variables, clippy::indexing_slicing, reason = "written by a macro")]
                #[inline(always)]
                unsafe fn items<__M: ::folio::ir::device::Mode>(
                    __scalars: &[::folio::ir::device::rust::primitive::u64],
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

    /// The function that looks at a kernel's guards, and computes the interior of all of them.
    fn guards(&self, undecided: &[TokenStream], constants: &TokenStream) -> TokenStream {
        if undecided.is_empty() {
            return quote!();
        }
        let (rank, made) = (self.rank(), entry::made(self));
        quote! {
            const GUARDED: ::folio::ir::device::rust::primitive::bool = true;
            #[allow(unused_variables, clippy::all, reason = "written by a macro")]
            unsafe fn undecided(
                __scalars: &[::folio::ir::device::rust::primitive::u64],
                __memory: &[::folio::ir::device::ParamPtr],
                __block: &::folio::ir::device::Positions,
                __launch: &::folio::ir::device::Launched,
                __gaps: &::folio::ir::device::Gaps,
            ) -> ::folio::ir::device::rust::primitive::usize {
                use ::folio::ir::device::Ends as __Ends;
                #constants
                #(#made)*
                let __at = __Ends::positions::<#rank>(__block);
                0 #(+ #undecided)*
            }
            unsafe fn interior(
                __scalars: &[::folio::ir::device::rust::primitive::u64],
                __memory: &[::folio::ir::device::ParamPtr],
                __block: &::folio::ir::device::Positions,
                __launch: &::folio::ir::device::Launched,
            ) {
                // SAFETY: the caller's promise.
                unsafe { ::folio::ir::device::best::<Self, true>(__scalars, __memory, __block, __launch) }
            }
        }
    }

    /// The arguments of a call: views that are columns are one.
    fn arguments(&self, given: &[&Parameter], walk: &Walk) -> Vec<TokenStream> {
        let argument = |Parameter { name, ty, role, .. }: &&Parameter| {
            let of =
                self.columns.iter().find(|of| of.views.iter().any(|(view, _)| same(view, name)));
            if let Some(Columns { name: all, of, writes, views }) = of {
                let changes = writes.then(|| quote!(mut));
                let of = quote_spanned!(ty.span() => <#of as ::folio::Columns>::Buffers);
                return same(&views[0].0, name).then(|| quote!(#all: &#changes #of));
            }
            if *role == Role::Value {
                return Some(quote!(#name: #ty));
            }
            if walk.is_log(name) {
                return Some(quote!(#name: &::folio::Log));
            }
            let kind = argument_of(ty);
            Some(quote_spanned!(ty.span() => #name: impl ::folio::arguments::#kind<#ty>))
        };
        given.iter().filter_map(argument).collect()
    }

    /// The part of an argument that a view is, if it is a column.
    fn column(&self, view: &Ident) -> Option<TokenStream> {
        self.columns.iter().find_map(|Columns { name, writes, views, .. }| {
            let (_, field) = views.iter().find(|(own, _)| same(own, view))?;
            let changes = writes.then(|| quote!(mut));
            Some(quote!(&#changes #name.#field))
        })
    }

    /// The function that users call: it makes a call of its arguments.
    fn call(&self, function: &ItemFn, walk: &Walk) -> TokenStream {
        let (attributes, vis, name) = (&function.attrs, &function.vis, &function.sig.ident);
        let (params, arguments, conditions) = function.sig.generics.split_for_impl();
        let rank = self.rank();
        let is_given = |p: &&Parameter| {
            p.hidden.is_none() && matches!(p.role, Role::View | Role::Reduce | Role::Value)
        };
        let given: Vec<_> = self.parameters.iter().filter(is_given).collect();
        let names: Vec<_> = given.iter().map(|p| &p.name).collect();
        let arguments_of_call = self.arguments(&given, walk);
        let lent = given.iter().map(|Parameter { ty, role, .. }| match role {
            Role::Value => quote!(#ty),
            _ => quote_spanned!(ty.span() => impl ::folio::HostArgument<#ty>),
        });
        let lent: Vec<_> = lent.collect();
        // Not as methods: a trait of the user's may have others of these names.
        let passed = |to: &TokenStream, apart: bool| -> TokenStream {
            let each =
                self.parameters.iter().map(|Parameter { name, ty, role, hidden, .. }| match role {
                    _ if let Some(hidden) = hidden => match hidden {
                        Hidden::Claims { memory, .. } => quote!(#to::claims(&mut __call, #memory);),
                        Hidden::End => quote!(#to::end(&mut __call);),
                        Hidden::Turn => quote!(#to::turn(&mut __call);),
                    },
                    Role::View if !apart && walk.is_log(name) => {
                        quote!(#to::log(&mut __call, #name);)
                    }
                    Role::View | Role::Reduce => {
                        let of = if apart { None } else { self.column(name) };
                        let given = of.unwrap_or_else(|| quote!(#name));
                        quote!(#to::memory::<#ty>(&mut __call, #given);)
                    }
                    Role::Value => quote!(#to::value(&mut __call, #name);),
                    // No argument, but a parameter.
                    Role::Local => quote!(#to::local(&mut __call);),
                    Role::Item(_) | Role::Group(_) | Role::Closure => quote!(),
                });
            quote!(#(#each)*)
        };
        let (passed, lent_to) =
            (passed(&quote!(::folio::KernelCall), false), passed(&quote!(::folio::HostCall), true));
        // Where rustc has nowhere to put a type parameter it proposes none for an unknown type:
        // then what it says here is what it says everywhere, once.
        let own = match function.sig.generics.params.is_empty() {
            true => quote!(<>),
            false => quote!(#params),
        };
        quote! {
            #(#attributes)*
            #[allow(clippy::too_many_arguments, reason = "kernels take what they need")]
            #vis fn #name #own (#(#arguments_of_call),*)
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
                    __items: impl ::folio::IntoItems<#rank> #(, #names: #lent)*
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
        let (output, [_, _, places]) = (&signature.output, self.closures());
        quote! {
            #(#attributes)*
            #vis fn #name #params (#(#names: #types),*) #output #conditions {
                #name #turbofish::__body::<::folio::ir::device::Checked #(, #places)*>(#(#names),*)
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

/// The lints that a user allows or denies in a function's body. An expected lint is allowed: it may
/// be there in one form, and not in another.
pub fn lints(attributes: &[syn::Attribute]) -> TokenStream {
    let of = |attribute: &syn::Attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return None };
        let name = list.path.get_ident()?;
        let level = match name.to_string().as_str() {
            "allow" | "expect" => Ident::new("allow", name.span()),
            "warn" | "deny" => name.clone(),
            _ => return None,
        };
        let tokens = &list.tokens;
        Some(quote!(#[#level(#tokens)]))
    };
    attributes.iter().filter_map(of).collect()
}

/// The lints that are allowed in the macro's output.
pub fn attributes() -> TokenStream {
    quote! {
        #[allow(unused_parens, unused_braces, unused_imports, non_snake_case, elided_lifetimes_in_paths,
            non_upper_case_globals, unreachable_code, clippy::all, clippy::pedantic, clippy::panic,
            reason = "written by a macro")]
    }
}
