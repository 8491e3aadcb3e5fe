// Calls of the device runtime: __cudaCDP2X and the older cudaX.
#include "raddle/exec/decode/decode.h"

namespace raddle::exec {

using trace::OpKind;

namespace {

/// What the timing is told of a call.
OpKind kind_of(DeviceFunction function) {
  switch (function) {
    case DeviceFunction::LaunchDeviceV2:
    case DeviceFunction::LaunchDevice:
      return OpKind::Launch;
    case DeviceFunction::GetParameterBufferV2:
    case DeviceFunction::GetParameterBuffer:
      return OpKind::LaunchBuffer;
    case DeviceFunction::StreamCreateWithFlags:
      return OpKind::LaunchStream;
    default:
      return OpKind::Branch;
  }
}

}  // namespace

bool Decoder::device_call(const ptx::Call& call, const ptx::Function& callee) {
  if (!callee.is_extern || !is_device_function(callee.name)) return false;
  if (callee.name.find("DeviceSynchronize") != std::string::npos)
    refuse("kernels cannot wait for what they launch: CUDA 12 has removed that");
  const DeviceFunctionInfo* info = device_function(callee.name);
  if (info == nullptr) refuse("the device runtime here has no " + callee.name);
  DeviceCall made{info->function, places(call.arguments), places(call.returns)};
  std::size_t expected = 0;
  while (expected < info->parameters.size() && info->parameters[expected] != 0) ++expected;
  bool same = made.arguments.size() == expected && made.returns.size() == 1 &&
              made.returns[0].bytes == info->result;
  for (std::size_t i = 0; same && i < expected; ++i)
    same = made.arguments[i].bytes == info->parameters[i];
  if (!same) refuse("arguments of " + callee.name);
  const OpKind kind = kind_of(info->function);
  Record& r = emit_own(kind == OpKind::Launch ? O_launch : O_device, kind);
  r.imm = static_cast<std::int32_t>(code_.device_calls.size());
  code_.device_calls.push_back(std::move(made));
  return true;
}

}  // namespace raddle::exec
