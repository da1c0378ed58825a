"""The module over its own arrays, and over NumPy's, PyTorch's, CuPy's and JAX's where these are installed."""

import ctypes
import gc
import importlib
import unittest

import folio_example


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


numpy, torch, cupy = (installed(name) for name in ("numpy", "torch", "cupy"))
CPU = (1, 0)


def stepped(rows, rate=0.1):
    """What `heat` computes, in plain Python."""
    new = [list(row) for row in rows]
    for r in range(1, len(rows) - 1):
        for c in range(1, len(rows[0]) - 1):
            around = rows[r - 1][c] + rows[r + 1][c] + rows[r][c - 1] + rows[r][c + 1]
            new[r][c] = rows[r][c] + rate * (around - 4 * rows[r][c])
    return new


class OwnArrays(unittest.TestCase):
    def matrix(self, rows, columns):
        """An array of the module, of a tensor that this test has made."""
        return folio_example.heat(0.0, Tensor([[float(r * columns + c) for c in range(columns)] for r in range(rows)]))

    def test_devices_are_told(self):
        self.assertIn("cpu:0", [name for name, _ in folio_example.devices()])
        self.assertTrue(all(isinstance(why, str) for why in folio_example.missing()))

    def test_an_array_is_computed_and_taken_again(self):
        x = self.matrix(4, 5)
        self.assertEqual(x.shape, (4, 5))
        before = x.tolist()
        after = folio_example.heat(0.25, x).tolist()
        for row, wanted in zip(after, stepped(before, 0.25)):
            self.assertEqual(row, wanted)
        self.assertEqual(x.tolist(), before)

    def test_a_capsule_that_no_library_takes_ends_its_loan(self):
        x = self.matrix(3, 3)
        for version in [None, (1, 0)]:
            capsule = x.__dlpack__(max_version=version)
            with self.assertRaises(folio_example.FolioError):
                x.tolist()
            del capsule
            gc.collect()
            self.assertEqual(x.tolist()[2], [6.0, 7.0, 8.0])

    def test_errors_are_exceptions(self):
        with self.assertRaisesRegex(TypeError, "'list' has no `__dlpack__`"):
            folio_example.heat(0.1, [[1.0]])
        with self.assertRaisesRegex(folio_example.FolioError, "2 dimensions"):
            folio_example.saxpy(1.0, self.matrix(2, 2), self.matrix(2, 2))
        with self.assertRaises(BufferError):
            self.matrix(2, 2).__dlpack__(copy=True)


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Tensor:
    """A tensor of no library, in the layout from before version 1, that is alive for as long as this module."""

    alive = []

    def __init__(self, rows):
        shape = (len(rows), len(rows[0]))
        data = (ctypes.c_float * (shape[0] * shape[1]))(*[value for row in rows for value in row])
        extents = (ctypes.c_int64 * 2)(*shape)
        tensor = DLTensor(ctypes.addressof(data), 1, 0, 2, 2, 32, 1, extents, None, 0)
        self.managed = Managed(tensor, None, None)
        Tensor.alive.append((data, extents, self.managed))

    def __dlpack_device__(self):
        return CPU

    def __dlpack__(self):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


@unittest.skipUnless(numpy, "NumPy is not installed")
class OfNumPy(unittest.TestCase):
    def test_an_array_is_written_in_place(self):
        x, y = numpy.arange(1000, dtype=numpy.float32), numpy.ones(1000, dtype=numpy.float32)
        at = y.ctypes.data
        folio_example.saxpy(2.0, x, y)
        self.assertEqual(y.ctypes.data, at)
        numpy.testing.assert_array_equal(y, 2 * x + 1)

    def test_arrays_that_share_memory_are_refused(self):
        y = numpy.arange(10, dtype=numpy.float32)
        for x, z in [(y, y), (y[1:], y[:-1]), (y[::2], y[:5])]:
            with self.assertRaisesRegex(ValueError, "shares memory"):
                folio_example.saxpy(1.0, x, z)
        self.assertEqual(y.tolist(), [float(k) for k in range(10)])
        folio_example.saxpy(1.0, y[:5], y[5:])
        self.assertEqual(y[5:].tolist(), [5.0, 7.0, 9.0, 11.0, 13.0])

    def test_strides_are_copied(self):
        x = numpy.arange(24, dtype=numpy.float32).reshape(4, 6).T
        wanted = stepped(x.tolist(), 0.5)
        self.assertEqual(folio_example.heat(0.5, x).tolist(), wanted)

    def test_an_array_that_must_not_be_written_is_read(self):
        x = numpy.ones((3, 3), dtype=numpy.float32)
        x.flags.writeable = False
        self.assertEqual(folio_example.heat(0.1, x).tolist()[1], [1.0, 1.0, 1.0])
        y = numpy.zeros(3, dtype=numpy.float32)
        y.flags.writeable = False
        with self.assertRaises(Exception):
            folio_example.saxpy(1.0, numpy.ones(3, dtype=numpy.float32), y)
        self.assertEqual(y.tolist(), [0.0, 0.0, 0.0])

    def test_a_result_is_taken_without_a_copy_and_outlives_its_maker(self):
        made = folio_example.heat(0.1, numpy.full((50, 40), 3.0, dtype=numpy.float32))
        view = numpy.from_dlpack(made)
        del made
        gc.collect()
        self.assertEqual(view.shape, (50, 40))
        self.assertTrue((view == 3.0).all())

    def test_another_type_is_an_exception_with_folios_text(self):
        with self.assertRaisesRegex(folio_example.FolioError, "f64"):
            folio_example.heat(0.1, numpy.ones((3, 3)))


@unittest.skipUnless(torch, "PyTorch is not installed")
class OfPyTorch(unittest.TestCase):
    def test_a_tensor_is_written_in_place(self):
        places = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
        for place in places:
            x, y = torch.arange(1000.0, device=place), torch.ones(1000, device=place)
            if place == "cuda":
                torch.cuda.synchronize()
            folio_example.saxpy(2.0, x, y)
            self.assertTrue(torch.equal(y, 2 * x + 1), place)
            made = folio_example.heat(0.1, torch.full((50, 40), 3.0, device=place))
            self.assertTrue(bool((torch.from_dlpack(made) == 3.0).all()), place)


@unittest.skipUnless(cupy, "CuPy is not installed")
class OfCuPy(unittest.TestCase):
    def test_an_array_is_written_in_place(self):
        x, y = cupy.arange(1000, dtype=cupy.float32), cupy.ones(1000, dtype=cupy.float32)
        cupy.cuda.Device().synchronize()
        folio_example.saxpy(2.0, x, y)
        self.assertTrue(bool((y == 2 * x + 1).all()))


if __name__ == "__main__":
    unittest.main()
