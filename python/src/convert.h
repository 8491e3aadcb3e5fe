// Between values of C++ and of Python.
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

#include "gil.h"
#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/base/types.h"

namespace raddle::python {

/// A Python object that may be let go by whoever does not hold the interpreter's lock.
class Held {
 public:
  Held() = default;
  explicit Held(py::object of)
      : of_(new py::object(std::move(of)), [](py::object* object) {
          if (!Py_IsInitialized()) return;
          try {
            const WithPython lock;
            delete object;
          } catch (const RunError&) {  // the process ends, and takes it along
          }
        }) {}
  explicit operator bool() const { return of_ != nullptr; }
  /// Precondition: the lock is held.
  const py::object& get() const { return *of_; }

 private:
  std::shared_ptr<py::object> of_;
};

/// raddle._record.Record: a dictionary whose entries are attributes, too.
py::object record_type();
/// An empty one.
py::dict new_record();

/// Tables become records.
py::object to_python(const nlohmann::ordered_json& value);

/// A set as a whole number, bit i for member i.
template <unsigned Words>
py::object to_int(const BitSet<Words>& set) {
  unsigned top = Words - 1;
  while (top != 0 && set.word(top) == 0) --top;
  py::object out = py::int_(set.word(top));
  for (unsigned i = top; i-- != 0;) out = (out << py::int_(64)) | py::int_(set.word(i));
  return out;
}

/// The other way. Throws value_error where the number has other bits.
template <unsigned Words>
BitSet<Words> set_of(const py::int_& number) {
  if (number < py::int_(0) || !(number >> py::int_(64 * Words)).equal(py::int_(0)))
    throw py::value_error("expected a set of numbers below " + std::to_string(64 * Words));
  BitSet<Words> out;
  for (unsigned i = 0; i < Words; ++i)
    out.word(i) =
        ((number >> py::int_(64 * i)) & py::int_(~std::uint64_t{0})).template cast<std::uint64_t>();
  return out;
}

/// None is "never".
Cycle cycle_of(py::handle answer, const char* what);
py::object to_python(Dim3 size);

/// A number that fits T, else a TypeError that says what was expected. Of a whole number that is
/// what Python can count with: no number with a fraction is cut.
template <class T>
T number_of(py::handle answer, const char* what) {
  if (std::is_floating_point_v<T> || PyIndex_Check(answer.ptr())) try {
      return answer.cast<T>();
    } catch (const py::cast_error&) {
    }
  throw py::type_error(std::string("expected ") + what + ", found " +
                       py::repr(answer).cast<std::string>());
}

/// A whole number that Python gives, for which none with a fraction is cut.
template <class T>
struct Whole {
  T value{};
  operator T() const { return value; }
};
/// How Python gives a T.
template <class T>
using Given = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, Whole<T>, T>;

/// What a policy sees is the simulator's and gone after the call.
template <class View>
struct Lent {
  View* at = nullptr;
  View& get() const {
    if (at == nullptr)
      throw py::value_error("a view holds during the call that it was given to only");
    return *at;
  }
};

/// One for each instance of a policy; shown to Python as often as it is asked.
template <class View>
class Lender {
 public:
  /// Precondition: the lock is held.
  Lender() {
    py::object object = py::cast(Lent<View>{});
    lent_ = object.cast<Lent<View>*>();
    object_ = Held(std::move(object));
  }
  class Loan {
   public:
    Loan(Lent<View>& lent, View& view) : lent_(lent) { lent_.at = &view; }
    ~Loan() { lent_.at = nullptr; }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

   private:
    Lent<View>& lent_;
  };
  Loan lend(View& view) { return Loan(*lent_, view); }
  const py::object& object() const { return object_.get(); }

 private:
  Held object_;
  Lent<View>* lent_ = nullptr;
};

}  // namespace raddle::python

namespace pybind11::detail {

template <class T>
struct type_caster<raddle::python::Whole<T>> {
  PYBIND11_TYPE_CASTER(raddle::python::Whole<T>, const_name("int"));
  bool load(handle from, bool) {
    make_caster<T> number;
    if (!PyIndex_Check(from.ptr()) || !number.load(from, true)) return false;
    value.value = cast_op<T>(number);
    return true;
  }
};

}  // namespace pybind11::detail
