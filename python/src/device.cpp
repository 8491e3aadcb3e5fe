#include "device.h"

#include <algorithm>
#include <cstring>

#include "raddle/base/demangle.h"
#include "raddle/ptx/module.h"

namespace raddle::python {

Device::Device(const api::Simulator& simulator, const std::string& name,
               const api::Settings& settings, api::Watch watch, std::uint64_t input_hash)
    : watch_(std::make_unique<api::Watch>(std::move(watch))) {
  const api::Simulator snapshot = simulator;  // of whose policies another thread may add some
  const WithoutPython unlocked;
  session_ =
      snapshot.session(name, nlohmann::ordered_json::object(), settings, *watch_, input_hash);
}

Device::Use::Use(Device& device) : device_(device) {
  const std::thread::id self = std::this_thread::get_id();
  if (device.used_.exchange(true))
    throw RunError(device.user_.load() == self
                       ? "this GPU is at work: neither a policy nor a function that it calls "
                         "meanwhile may use it"
                       : "another thread is using this GPU");
  device.user_ = self;
}

runtime::SimulatedDevice& Device::device() {
  if (session_ == nullptr) throw py::value_error("this GPU has finished");
  return session_->device();
}

runtime::ModuleId Device::load(std::string ptx, std::string file) {
  const Use use(*this);
  const WithoutPython unlocked;
  return device().load(std::move(ptx), std::move(file));
}

py::list Device::kernels(runtime::ModuleId module) {
  const Use use(*this);
  py::list out;
  for (const ptx::Function& function : device().module(module).functions) {
    if (!function.is_entry) continue;
    py::dict kernel = new_record();
    kernel["name"] = function.name;
    kernel["short_name"] = short_name(function.name);
    py::list parameters;
    for (const ptx::Variable& one : function.parameters) {
      py::dict parameter = new_record();
      parameter["name"] = one.name;
      parameter["type"] = one.is_array ? "b8" : std::string(ptx::name_of(one.type));
      parameter["size"] = one.size;
      parameter["is_array"] = one.is_array;  // of a class or struct, as nvcc writes these
      parameters.append(parameter);
    }
    kernel["parameters"] = parameters;
    out.append(kernel);
  }
  return out;
}

Address Device::allocate(std::uint64_t bytes) {
  const Use use(*this);
  const WithoutPython unlocked;
  return device().allocate(std::max<std::uint64_t>(bytes, 1));
}

void Device::free(Address at) {
  const Use use(*this);
  const WithoutPython unlocked;
  device().free(at);
}

void Device::write(Address to, const py::buffer& from) {
  const Use use(*this);
  const py::buffer_info info = from.request();
  const WithoutPython unlocked;
  device().copy_to_device(to, info.ptr, static_cast<std::uint64_t>(info.size * info.itemsize));
}

void Device::read(const py::buffer& to, Address from) {
  const Use use(*this);
  const py::buffer_info info = to.request(true);
  const WithoutPython unlocked;
  device().copy_to_host(info.ptr, from, static_cast<std::uint64_t>(info.size * info.itemsize));
}

Address Device::symbol(runtime::ModuleId module, const std::string& name) {
  const Use use(*this);
  return device().symbol(module, name);
}

void Device::launch(runtime::ModuleId module, const std::string& kernel, Dim3 grid, Dim3 block,
                    const std::vector<py::bytes>& arguments, std::uint32_t shared_bytes,
                    std::uint32_t stream) {
  const Use use(*this);
  runtime::SimulatedDevice& on = device();
  const runtime::KernelId id = on.kernel(module, kernel);
  const exec::ParameterLayout& layout = exec::parameters_of(on.code(id));
  if (arguments.size() != layout.items.size())
    throw InputError("kernel '" + short_name(kernel) + "' takes " +
                     std::to_string(layout.items.size()) + " arguments, not " +
                     std::to_string(arguments.size()));
  std::vector<std::byte> parameters(layout.bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto bytes = static_cast<std::string_view>(arguments[i]);
    if (bytes.size() != layout.items[i].size)
      throw InputError("argument " + std::to_string(i + 1) + " of kernel '" + short_name(kernel) +
                       "' has " + std::to_string(layout.items[i].size) + " bytes, not " +
                       std::to_string(bytes.size()));
    std::memcpy(parameters.data() + layout.items[i].offset, bytes.data(), bytes.size());
  }
  const WithoutPython unlocked;
  on.launch(id, grid, block, parameters,
            {.dynamic_shared_bytes = shared_bytes, .stream = StreamId{stream}});
}

std::uint32_t Device::create_stream() {
  const Use use(*this);
  return index(device().create_stream());
}

void Device::synchronize() {
  const Use use(*this);
  const WithoutPython unlocked;
  device().synchronize();
}

api::Result Device::finish() {
  const Use use(*this);
  device();
  const WithoutPython unlocked;
  api::Result out(session_->finish());
  session_.reset();
  return out;
}

namespace {

Dim3 size_of(const std::vector<std::uint32_t>& sizes) {
  if (sizes.empty() || sizes.size() > 3)
    throw py::value_error("expected a size of one, two or three numbers");
  Dim3 out;
  out.x = sizes[0];
  if (sizes.size() > 1) out.y = sizes[1];
  if (sizes.size() > 2) out.z = sizes[2];
  return out;
}

}  // namespace

void bind_device(py::module_& module) {
  py::class_<Device>(module, "Device")
      .def("load", &Device::load)
      .def("kernels", &Device::kernels)
      .def("allocate", &Device::allocate)
      .def("free", &Device::free)
      .def("write", &Device::write)
      .def("read", &Device::read)
      .def("symbol", &Device::symbol)
      .def("launch",
           [](Device& self, runtime::ModuleId module, const std::string& kernel,
              const std::vector<std::uint32_t>& grid, const std::vector<std::uint32_t>& block,
              const std::vector<py::bytes>& arguments, std::uint32_t shared_bytes,
              std::uint32_t stream) {
             self.launch(module, kernel, size_of(grid), size_of(block), arguments, shared_bytes,
                         stream);
           })
      .def("create_stream", &Device::create_stream)
      .def("synchronize", &Device::synchronize)
      .def("finish", &Device::finish);
}

}  // namespace raddle::python
