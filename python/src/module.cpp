// raddle._raddle: the library (src/raddle/api) for Python. What users see is in python/raddle.
#include <algorithm>
#include <string>
#include <vector>

#include "device.h"
#include "policies.h"
#include "raddle/api/recording.h"
#include "raddle/api/simulator.h"
#include "raddle/sim/result/version.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/stats/terms.h"
#include "watch.h"

namespace raddle::python {

namespace {

// --- results ------------------------------------------------------------------------------------

template <class Items, class Value>
py::array column(const Items& items, Value value) {
  using T = decltype(value(*items.begin()));
  py::array_t<T> out(static_cast<py::ssize_t>(items.size()));
  T* to = out.mutable_data();
  for (const auto& item : items) *to++ = value(item);
  return out;
}

/// What was sampled, a column for each; empty of a run that was not.
py::dict series_of(const api::Result& result) {
  const auto& samples = result.whole().samples;
  using Sample = timing::Sample;
  py::dict out;
  if (samples.empty()) return out;
  const auto add = [&]<class T>(const char* name, T Sample::*member) {
    out[name] = column(samples, [member](const Sample& s) { return s.*member; });
  };
  add("start", &Sample::start);
  add("issued", &Sample::issued);
  add("thread_instructions", &Sample::thread_instructions);
  add("l1d_accesses", &Sample::l1d_accesses);
  add("l1d_hits", &Sample::l1d_hits);
  add("dram_bytes", &Sample::dram_bytes);
  add("warp_cycles", &Sample::warp_cycles);
  add("throttled_warp_cycles", &Sample::throttled_warp_cycles);
  for (unsigned i = 0; i < stats::kStalls; ++i)
    out[py::str("stall_" + std::string(stats::kStallNames[i]))] =
        column(samples, [i](const Sample& s) { return s.stall[i]; });
  return out;
}

/// Which block ran where and when.
py::dict blocks_of(const api::Result& result) {
  const auto& blocks = result.whole().blocks;
  using Span = timing::BlockSpan;
  py::dict out;
  out["launch"] = column(blocks, [](const Span& b) { return b.launch; });
  out["block"] = column(blocks, [](const Span& b) { return b.block; });
  out["sm"] = column(blocks, [](const Span& b) { return b.sm; });
  out["start"] = column(blocks, [](const Span& b) { return b.start; });
  // In a co-run blocks are under way at its end.
  out["end"] = column(
      blocks, [until = result.whole().cycles](const Span& b) { return std::min(b.end, until); });
  out["stolen"] = column(blocks, [](const Span& b) { return b.stolen; });
  return out;
}

void bind_result(py::module_& module) {
  py::class_<api::Result>(module, "Result")
      .def("value", [](const api::Result& r, std::size_t n) { return to_python(r.value(n)); })
      .def("json", [](const api::Result& r, std::size_t n) { return r.value(n).dump(2); })
      .def("metric", &api::Result::metric)
      .def("summary", &api::Result::summary)
      .def("timed_launches", &api::Result::timed_launches)
      .def("cycles_interval", &api::Result::cycles_interval)
      .def("label", &api::Result::label)
      .def("work", [](const api::Result& r) { return r.place().work; })
      .def("speedup", &api::speedup)
      .def("series", series_of)
      .def("blocks", blocks_of)
      .def("sample_interval", [](const api::Result& r) { return r.whole().sample_interval; })
      .def("checks",
           [](const api::Result& r) {
             return r.whole().checks ? r.whole().checks->text() : std::string();
           })
      .def("timed", [](const api::Result& r) { return r.whole().timed; })
      .def("difference", [](const api::Result& r) { return r.whole().difference; });
  module.def("page", &api::page);
  module.def("timeline", &api::timeline);
  module.def("comparison", &api::comparison);
}

// --- settings and runs --------------------------------------------------------------------------

void bind_settings(py::module_& module) {
  py::class_<api::Settings>(module, "Settings")
      .def(py::init<>())
      .def_readwrite("gpu", &api::Settings::gpu)
      .def_readwrite("set", &api::Settings::set)
      .def_readwrite("policy", &api::Settings::policy)
      .def_readwrite("max_cycles", &api::Settings::max_cycles)
      .def_readwrite("seed", &api::Settings::seed)
      .def_readwrite("checks", &api::Settings::checks)
      .def_readwrite("threads", &api::Settings::threads)
      .def_readwrite("functional", &api::Settings::functional)
      .def_readwrite("live", &api::Settings::live)
      .def_readwrite("no_skip", &api::Settings::no_skip)
      .def_readwrite("first_launches", &api::Settings::first_launches)
      .def_readwrite("max_stream_gib", &api::Settings::max_stream_gib)
      .def_readwrite("cold_l2", &api::Settings::cold_l2)
      .def_readwrite("sampling_error", &api::Settings::sampling_error);
  py::class_<WatchArguments>(module, "Watch")
      .def(py::init<>())
      .def_readwrite("progress", &WatchArguments::progress)
      .def_readwrite("sample_interval", &WatchArguments::sample_interval)
      .def_readwrite("analyses", &WatchArguments::analyses)
      .def_readwrite("for_page", &WatchArguments::for_page);
}

/// Runs without the interpreter's lock, with the policies that there are now: another thread, or a
/// policy, may register more meanwhile.
template <class Run>
auto unlocked(const api::Simulator& simulator, const WatchArguments& arguments, Run run) {
  const api::Simulator snapshot = simulator;
  const api::Watch watch = make_watch(arguments);
  const WithoutPython release;
  return run(snapshot, watch);
}

using Words = std::vector<std::string>;

void bind_runs(py::class_<api::Simulator>& simulator) {
  simulator
      .def("run",
           [](const api::Simulator& self, const Words& words, const api::Settings& settings,
              const WatchArguments& watch) {
             return unlocked(self, watch, [&](const api::Simulator& s, const api::Watch& w) {
               return s.run(words, settings, w);
             });
           })
      .def("compare",
           [](const api::Simulator& self, const std::vector<Words>& works,
              const std::string& policies, const Words& sweeps, const api::Settings& settings,
              const WatchArguments& watch) {
             return unlocked(self, watch, [&](const api::Simulator& s, const api::Watch& w) {
               return s.compare(works, {policies, sweeps}, settings, w);
             });
           })
      .def("corun",
           [](const api::Simulator& self, const std::vector<Words>& tenants,
              const api::Settings& settings, Cycle horizon, Cycle warmup, bool alone,
              const std::vector<double>& ipc_alone, const WatchArguments& watch) {
             const sim::CorunOptions corun{.horizon = horizon,
                                           .warmup = warmup,
                                           .alone = alone,
                                           .ipc_alone = ipc_alone,
                                           .sample = watch.sample_interval};
             return unlocked(self, watch, [&](const api::Simulator& s, const api::Watch& w) {
               return s.corun(tenants, settings, corun, w);
             });
           })
      .def("record",
           [](const api::Simulator& self, const Words& words, const api::Settings& settings,
              const std::string& file, const WatchArguments& watch) {
             return unlocked(self, watch, [&](const api::Simulator& s, const api::Watch& w) {
               return s.record(words, settings, file, w);
             });
           })
      .def("device",
           [](const api::Simulator& self, const std::string& name, const api::Settings& settings,
              std::uint64_t input_hash, const WatchArguments& watch) {
             return std::make_unique<Device>(self, name, settings, make_watch(watch), input_hash);
           });
}

void bind_simulator(py::module_& module) {
  py::class_<api::Simulator> simulator(module, "Simulator");
  simulator.def(py::init<>())
      .def("add_policy", [](api::Simulator& self, const std::string& level, const py::object& type,
                            bool replace) { add_policy(self.policies(), level, type, replace); })
      .def("config",
           [](const api::Simulator& self, const api::Settings& settings) {
             return to_python(self.setup(settings).config());
           })
      .def("policies", [](const api::Simulator& self) {
        py::dict out = new_record();
        policy::each_level(
            [&](const policy::Level& level, const auto& registry) {
              py::dict of = new_record();
              for (const std::string& name : registry.names())
                of[name.c_str()] = registry.choose(name)->doc();
              out[std::string(level.name).c_str()] = of;
            },
            self.policies());
        return out;
      });
  bind_runs(simulator);
}

py::dict workloads() {
  py::dict out = new_record();
  const runtime::Workloads all = runtime::all_workloads();
  for (const std::string& name : all.names()) out[name.c_str()] = all.doc(name);
  return out;
}

py::list gpus() {
  py::list out;
  for (const sim::EmbeddedToml& gpu : sim::embedded_gpus()) out.append(gpu.name);
  return out;
}

void check_processor() {
#ifdef RADDLE_NEEDS_X86_64_V3
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
    throw py::import_error(
        "this module was built for processors with AVX2 and BMI2 (x86-64-v3, 2013 and later), "
        "which this one lacks; build it with cmake -DRADDLE_ARCH=x86-64");
#endif
}

}  // namespace

}  // namespace raddle::python

PYBIND11_MODULE(_raddle, module) {
  using namespace raddle::python;
  check_processor();
  stop_simulations_at_exit();
  py::register_exception<raddle::InputError>(module, "InputError", PyExc_ValueError);
  py::register_exception<raddle::RunError>(module, "RunError", PyExc_RuntimeError);
  module.attr("version") = raddle::sim::version();
  bind_views(module);
  bind_result(module);
  bind_settings(module);
  bind_device(module);
  bind_simulator(module);
  module.def("keep_inputs", raddle::api::keep_inputs_of);
  module.def("workloads", workloads);
  module.def("gpus", gpus);
}
