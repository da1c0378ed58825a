//! What calls take for each kind of parameter. All of them are [`Argument`]s; that they have names
//! of their own is for rustc, which tells of a wrong one what this kind takes.

use crate::call::Argument;

macro_rules! kinds {
    ($($name:ident $label:literal $note:literal $($more:literal)?;)*) => {$(
        #[doc = concat!("What is passed for `", stringify!($name), "`.")]
        #[diagnostic::on_unimplemented(
            message = "expected an argument for `{P}` of a kernel, found `{Self}`",
            label = $label,
            note = $note,
            $(note = $more,)?
            note = "a call has no item: `q.run(items, f(..))` calls the kernel once, for all of them"
        )]
        pub trait $name<P>: Argument<P> {}

        impl<P, A: Argument<P>> $name<P> for A {}
    )*};
}
kinds! {
    In "this is read: pass `&x` with the elements and dimensions of `{P}`"
        "`x` is a buffer, a shared one, USM, or a slice of one, `x.slice(..)?`; a `Vec` or a slice goes into a buffer first: `rt.buffer_from(&v)?`"
        "`In<f32>` has one dimension, `In<f32, 2>` two: the elements of a matrix as a vector are `x.flat()`, those of a vector as a matrix `x.reinterpret([rows, columns])?`, and of `[[f32; 4]; 3]` `rt.buffer_from((x.as_flattened(), [3, 4]))?`";
    Out "this is written: pass `&mut x` with the elements and dimensions of `{P}`"
        "`x` is a buffer, USM, or a mutable slice of one, `x.slice_mut(..)?`; a shared one is passed by `&x`; a `Vec` or a slice is copied from a buffer: `x.to_vec()?`"
        "`Out<f32>` has one dimension, `Out<f32, 2>` two: the elements of a matrix as a vector are `x.flat_mut()`, those of a vector as a matrix `x.reinterpret([rows, columns])?`";
    InOut "this is read and written: pass `&mut x` with the elements and dimensions of `{P}`"
        "`x` is a buffer, USM, or a mutable slice of one, `x.slice_mut(..)?`; a shared one is passed by `&x`; a `Vec` or a slice goes into a buffer first: `rt.buffer_from(&v)?`"
        "`InOut<f32>` has one dimension, `InOut<f32, 2>` two: the elements of a matrix as a vector are `x.flat_mut()`, those of a vector as a matrix `x.reinterpret([rows, columns])?`";
    Row "each item has a row of this: pass `&mut x`, of these elements and two dimensions"
        "`x` is a buffer, or a mutable slice of one; a shared one is passed by `&x`";
    Column "each item has a column of this: pass `&mut x`, of these elements and two dimensions"
        "`x` is a buffer, or a mutable slice of one; a shared one is passed by `&x`";
    Chunk "each item has an array of this: pass `&mut x`, of such arrays"
        "`x` is a buffer of arrays, `rt.buffer::<[f32; 4], 1>(n)?`; one of single elements is one of arrays by `x.reinterpret()`";
    OfGroup "each group has an element of this: pass `&mut x` with the elements and dimensions of `{P}`"
        "`x` is a buffer with an element for each group; a shared one is passed by `&x`";
    OfTile "each group has a tile of this: pass `&mut x` with the elements and dimensions of `{P}`"
        "`x` is a buffer, or a mutable slice of one; a shared one is passed by `&x`";
    Atomic "this is changed by all items: pass `&mut x` with the elements and dimensions of `{P}`"
        "`x` is a buffer, USM, or a mutable slice of one; a shared one is passed by `&x`";
    Reduce "a `Reduce` is written once: pass `&mut x`, of one such element"
        "`x` is a buffer of one element, `rt.buffer::<f32, 1>(1)?`, which is read when the command is done: `x.get(0)?`";
    RedBlack "items change every other cell of this: pass `&mut x` with the elements and dimensions of `{P}`"
        "`x` is a buffer, USM, or a mutable slice of one; a shared one is passed by `&x`";
    Scatter "items write this anywhere: pass `&mut x` with the elements and dimensions of `{P}`"
        "`x` is a buffer, USM, or a mutable slice of one; a shared one is passed by `&x`";
    Racy "a `Racy` is written without order: pass `unsafe {{ RacyMemory::new(&mut x) }}`"
        "who passes it promises that no item touches an element that another one writes; an `Atomic` needs no promise";
}
