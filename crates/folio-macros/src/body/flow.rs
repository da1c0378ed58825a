//! Branches, loops, and ways out.

use super::{Both, Walk};
use proc_macro2::{Ident, Span};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ExprIf, RangeLimits};

impl Walk {
    pub(super) fn branch(&mut self, branch: &ExprIf) -> Both {
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

    pub(super) fn flow(&mut self, expr: &Expr) -> Both {
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

    pub(super) fn counted(&mut self, repeat: &ExprForLoop) -> Both {
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
        let (from, to) = (self.ends(start), self.ends(end));
        let slot = Ident::new(
            &format!("__slot{}", self.slots.len()),
            Span::mixed_site().located_at(range.span()),
        );
        self.slots.push(quote!(let #slot = ::folio::ir::device::Slot::new();));
        self.scopes.enter();
        let pattern = self.scopes.pattern(&repeat.pat, &mut self.errors);
        if let (Some(start), Some(end)) = (from, to) {
            let inclusive = matches!(range.limits, RangeLimits::Closed(_));
            self.learn_as(&repeat.pat, quote!(__Ends::turns(#start, #end, #inclusive)));
        }
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
