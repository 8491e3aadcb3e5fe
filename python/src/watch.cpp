#include "watch.h"

namespace raddle::python {

namespace {

using Clock = std::chrono::steady_clock;
/// Between two looks for a signal, and between two calls of `progress`.
constexpr std::chrono::milliseconds kBetweenLooks{50}, kBetweenCalls{100};

class Progress {
 public:
  explicit Progress(py::object call) : call_(call.is_none() ? Held() : Held(std::move(call))) {}

  void operator()(const sim::Progress& now) {
    const Clock::time_point at = Clock::now();
    if (at - looked_ < kBetweenLooks) return;
    looked_ = at;
    const WithPython lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!call_ || at - called_ < kBetweenCalls) return;
    called_ = at;
    py::dict out = new_record();
    out["launches"] = now.launches;
    out["kernel"] = now.kernel;
    out["cycles"] = now.cycles;
    out["setup"] = now.setup;
    if (now.executing != nullptr) {
      out["block"] = now.executing->block;
      out["blocks"] = now.executing->blocks;
      out["warp_instructions"] = now.executing->warp_instructions;
    }
    call_.get()(out);
  }

 private:
  Held call_;
  Clock::time_point looked_ = Clock::now(), called_ = looked_;
};

void print(std::string_view text) {
  const WithPython lock;
  py::module_::import("sys").attr("stdout").attr("write")(py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace")));
}

}  // namespace

api::Watch make_watch(const WatchArguments& arguments) {
  api::Watch out;
  out.progress = Progress(arguments.progress);
  out.print = print;
  out.sample_interval = arguments.sample_interval;
  out.analyses = arguments.analyses;
  out.for_page = arguments.for_page;
  return out;
}

}  // namespace raddle::python
