//! `#[folio::main]`: a program that fails with the failures that nothing in it has asked for.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{ItemFn, ReturnType};

/// Why an attribute is refused, where it stands.
fn refusal(arguments: &TokenStream, function: &ItemFn) -> Option<syn::Error> {
    let told = |at: &dyn ToTokens, why: &str| Some(syn::Error::new_spanned(at, why));
    let signature = &function.sig;
    if !arguments.is_empty() {
        return told(arguments, "`#[folio::main]` takes no arguments");
    }
    if !signature.inputs.is_empty() || !signature.generics.params.is_empty() {
        return told(
            signature,
            "`#[folio::main]` is for a function without parameters: `fn main()`",
        );
    }
    if let Some(word) = &signature.asyncness
        && function.attrs.is_empty()
    {
        return told(
            word,
            "an `async` function needs something that runs it: write `#[folio::main]` above its attribute, such as `#[tokio::main]`",
        );
    }
    None
}

/// Expands the attribute.
pub fn expand(arguments: &TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item) {
        Ok(function) => function,
        Err(_) => {
            let why = "`#[folio::main]` is for a function: `fn main() { .. }`";
            return syn::Error::new(proc_macro2::Span::call_site(), why).to_compile_error();
        }
    };
    if let Some(error) = refusal(arguments, &function) {
        let (error, name) = (error.to_compile_error(), &function.sig.ident);
        // Without it rustc would also say that there is no `main`.
        return quote!(#error fn #name() {});
    }
    let ItemFn { attrs, vis, sig, block } = function;
    let name = &sig.ident;
    // Where rustc says that what it returns is no result of a program.
    let at = match &sig.output {
        ReturnType::Type(_, output) => output.span(),
        ReturnType::Default => name.span(),
    };
    let run = quote_spanned!(at=> ::folio::run_main(#name));
    quote! {
        #vis fn #name() -> ::folio::ir::device::rust::process::ExitCode {
            #(#attrs)* #sig #block
            #run
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(arguments: &str, item: &str) -> String {
        expand(&arguments.parse().unwrap(), item.parse().unwrap()).to_string()
    }

    #[test]
    fn what_is_no_main_is_refused_by_what_to_write() {
        for (arguments, item, why) in [
            ("strict", "fn main() {}", "takes no arguments"),
            ("", "fn main(x: u32) {}", "without parameters"),
            ("", "fn main<T>() {}", "without parameters"),
            ("", "async fn main() {}", "above its attribute"),
            ("", "struct Main;", "is for a function"),
        ] {
            let text = expanded(arguments, item);
            assert!(text.contains(why) && !text.contains("run_main"), "{item}: {text}");
        }
        for item in ["fn main() {}", "#[tokio::main] async fn main() -> Result<(), E> {}"] {
            assert!(expanded("", item).contains("run_main"), "{item}");
        }
    }
}
