#include "convert.h"

namespace raddle::python {

py::object record_type() { return py::module_::import("raddle._record").attr("Record"); }

py::dict new_record() { return record_type()().cast<py::dict>(); }

namespace {

py::object converted(const nlohmann::ordered_json& value, const py::object& record) {
  using Kind = nlohmann::ordered_json::value_t;
  switch (value.type()) {
    case Kind::object: {
      py::object out = record();
      for (const auto& [key, member] : value.items())
        PyObject_SetItem(out.ptr(), py::str(key).ptr(), converted(member, record).ptr());
      return out;
    }
    case Kind::array: {
      py::list out(value.size());
      for (std::size_t i = 0; i < value.size(); ++i) out[i] = converted(value[i], record);
      return out;
    }
    case Kind::string:
      return py::str(value.get_ref<const std::string&>());
    case Kind::boolean:
      return py::bool_(value.get<bool>());
    case Kind::number_integer:
      return py::int_(value.get<std::int64_t>());
    case Kind::number_unsigned:
      return py::int_(value.get<std::uint64_t>());
    case Kind::number_float:
      return py::float_(value.get<double>());
    case Kind::null:
    case Kind::binary:
    case Kind::discarded:
      break;
  }
  return py::none();
}

}  // namespace

py::object to_python(const nlohmann::ordered_json& value) {
  return converted(value, record_type());
}

Cycle cycle_of(py::handle answer, const char* what) {
  return answer.is_none() ? kNever : number_of<Cycle>(answer, what);
}

py::object to_python(Dim3 size) { return py::make_tuple(size.x, size.y, size.z); }

}  // namespace raddle::python
