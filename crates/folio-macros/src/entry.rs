//! A kernel's entry: its views, and the loop over a block's items or groups.

use crate::body::Strips;
use crate::parameter::{Role, is_atomic};
use crate::signature::Signature;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The views and scalars.
pub(crate) fn made(signature: &Signature) -> Vec<TokenStream> {
    let mut memory = 0usize;
    let parameters = signature.parameters.iter().enumerate();
    parameters
        .filter_map(|(number, parameter)| {
            let (name, ty) = (&parameter.name, &parameter.ty);
            let k = memory;
            memory += usize::from(matches!(parameter.role, Role::View | Role::Reduce));
            match parameter.role {
                Role::View => Some(quote! {
                    // SAFETY: the caller's promise: live memory of this view.
                    let #name = unsafe {
                        <#ty as ::folio::ir::device::ViewParam>::view(
                            &__memory[#k], #number, __block,
                        )
                    };
                }),
                Role::Value => Some(quote! {
                    // SAFETY: the caller's promise: the words of this scalar come first.
                    let #name: #ty = unsafe { ::folio::ir::device::scalar(__scalars) };
                    let __scalars = &__scalars[::folio::ir::device::words::<#ty>()..];
                }),
                _ => None,
            }
        })
        .collect()
}

/// The loop over items or groups, with the reductions that they contribute to.
pub(crate) fn each(signature: &Signature, strips: bool) -> TokenStream {
    let (mut foldings, mut open, mut close) = (vec![], vec![], vec![]);
    let (mut given, mut memory) = (vec![], 0usize);
    let (mut begin, mut end, mut views) = (vec![], vec![], vec![]);
    let (mut tallies, mut counted, mut folded) = (vec![], vec![], vec![]);
    for (number, parameter) in signature.parameters.iter().enumerate() {
        let (name, ty) = (&parameter.name, &parameter.ty);
        let k = memory;
        memory += usize::from(matches!(parameter.role, Role::View | Role::Reduce));
        match parameter.role {
            // Closures are for device functions alone.
            Role::Item(_) | Role::Group(_) | Role::Closure => {}
            Role::View | Role::Value => {
                if parameter.role == Role::View {
                    views.push(name);
                }
                if is_atomic(ty) {
                    let tally = format_ident!("__tally{}", tallies.len());
                    counted.push(quote! {
                        let mut #tally = ::folio::ir::device::Tallied::of(&#name, #k, __launch);
                        let #name = ::folio::ir::device::Tallied::view(&mut #tally, #name);
                    });
                    tallies.push(tally);
                }
                given.push(quote!(#name));
            }
            Role::Local => given.push(quote! {
                <#ty as ::folio::ir::device::LocalParam>::array(__grid, #number)
            }),
            Role::Reduce => {
                let nth = foldings.len();
                let (folding, gives) =
                    (format_ident!("__fold{nth}"), format_ident!("__gives{nth}"));
                foldings.push(quote! {
                    // SAFETY: the caller's promise: live memory of this reduction.
                    let mut #folding = unsafe {
                        ::folio::ir::device::Folding::<
                            <#ty as ::folio::ir::device::ReduceParam>::Value,
                            <#ty as ::folio::ir::device::ReduceParam>::Combine,
                        >::new(#nth, &__memory[#k], __launch, __block)
                    };
                });
                folded.push(folding.clone());
                if signature.grouped() {
                    open.push(quote!(let #gives = __grid.open(&#folding);));
                    close.push(quote!(__grid.close(&mut #folding, #gives);));
                    given.push(quote!(#gives));
                } else {
                    let value = format_ident!("__value{nth}");
                    let of = quote!(::folio::ir::device::Folding);
                    open.push(quote!(let #gives = #of::open(&mut #folding, &__row);));
                    begin.push(quote!(let mut #value = #gives.value();));
                    given.push(quote!(#gives.give(&mut #value)));
                    end.push(quote!(#gives.take(__number, #value);));
                    close.push(quote!(#of::close(&mut #folding, &__row);));
                }
            }
        }
    }
    let body = quote!(Self::__body::<__M>(__proof, __grid #(, #given)*));
    let each = if signature.grouped() {
        let rank = signature.rank();
        quote! {
            for __grid in __launch.groups::<#rank>(__block, Self::__GROUP) {
                #(#open)*
                #body;
                #(#close)*
            }
        }
    } else if strips {
        let block = quote!(::folio::ir::device::Block::new(*__block));
        quote!(Self::__body::<__M>(__proof, #block #(, #given)*))
    } else if foldings.is_empty() {
        quote!(__block.each(|__grid| #body))
    } else {
        quote! {
            for __row in __launch.rows(__block) {
                // Copies whose addresses nobody knows: so what lanes take cannot change them, and
                // they stay in registers also where not all that made them was inlined.
                #(let #views = #views;)*
                #(#open)*
                ::folio::ir::device::Row::each(&__row, |__grid, __number| { #(#begin)* #body; #(#end)* });
                #(#close)*
            }
        }
    };
    quote! {
        #(#foldings)*
        #(#counted)*
        // SAFETY: the caller's promise: in this mode, nothing is unproved.
        let __proof = unsafe { ::folio::ir::device::Proof::<__M>::new() };
        // SAFETY: the caller computes each position once; numbers are of the rows that reductions
        // were opened for.
        unsafe { #each };
        #(::folio::ir::device::Folding::end(#folded);)*
        #(::folio::ir::device::Tallied::close(#tallies);)*
    }
}

/// The body of a kernel that has a form for strips of items: the loop over them, which are of this
/// block.
pub(crate) fn strips(signature: &Signature, strips: &Strips, block: &Ident) -> TokenStream {
    let rank = signature.rank();
    let Strips { strip, memory, rooms, each, .. } = strips;
    quote! {{
        #(#memory)*
        let __rooms = [#(#rooms),*];
        for #strip in ::folio::ir::device::Block::strips::<#rank>(#block, &__rooms) {
            #each
        }
    }}
}
