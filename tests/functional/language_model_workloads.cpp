// The workloads of language models, functionally, at variants and awkward sizes. (What every
// workload must do is asked in workloads.cpp.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "functional/workload_support.h"

namespace raddle::runtime::language_model_workloads_test {

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  std::string name;
  Parameters parameters;
};

// Without it a failure prints the bytes.
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
  for (const auto& [key, value] : one.parameters) *out << " " << key << "=" << value;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string text = info.param.name;
  for (const auto& [key, value] : info.param.parameters) text += "_" + key + "_" + value;
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

class LanguageModel : public ::testing::TestWithParam<Case> {};

TEST_P(LanguageModel, IsCorrect) {
  auto workload = make_workload(GetParam().name, GetParam().parameters);
  ASSERT_THAT(workload->violations(), IsEmpty());
  WatchedDevice device;
  workload->run(device, 3);
  EXPECT_EQ(workload->check(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, LanguageModel,
    ::testing::Values(
        Case{"rms_norm", {{"residual", "true"}}}, Case{"softmax", {{"readings", "three"}}},
        Case{"attention", {{"causal", "false"}}},
        Case{"attention", {{"head_dim", "128"}, {"sequence", "70"}, {"batch", "2"}}},
        Case{"attention", {{"mode", "decode"}}},
        Case{"attention",
             {{"mode", "decode"},
              {"heads", "4"},
              {"kv_heads", "2"},
              {"head_dim", "128"},
              {"batch", "3"},
              {"sequence", "300"},
              {"split", "100"},
              {"page", "8"}}},
        Case{"attention", {{"units", "tensor"}}},
        Case{"attention", {{"units", "tensor"}, {"causal", "false"}, {"sequence", "97"}}},
        Case{"attention",
             {{"units", "tensor"}, {"head_dim", "128"}, {"sequence", "70"}, {"batch", "2"}}},
        Case{"gemm_mma", {{"tile", "128x64"}, {"m", "200"}, {"n", "136"}, {"k", "264"}}},
        Case{"gemm_mma", {{"tile", "128x128"}, {"m", "128"}, {"n", "256"}, {"k", "128"}}},
        Case{"gemm_mma", {{"tile", "256x128"}, {"m", "300"}, {"stages", "2"}, {"k", "192"}}},
        Case{"gemm_mma", {{"stages", "4"}, {"m", "64"}, {"n", "64"}, {"k", "448"}}},
        Case{"gemm_wgmma", {{"tile", "128x256"}, {"m", "200"}, {"n", "520"}, {"k", "264"}}},
        Case{"gemm_wgmma", {{"tile", "256x128"}, {"m", "256"}, {"stages", "2"}, {"launches", "2"}}},
        Case{"gemm_wgmma", {{"warpgroups", "alone"}, {"stages", "2"}, {"k", "448"}}},
        Case{"gemm_wgmma", {{"cluster", "2"}, {"m", "300"}, {"stages", "3"}}},
        Case{"gemm_wgmma", {{"cluster", "4"}, {"m", "700"}, {"tile", "128x256"}, {"k", "320"}}},
        Case{"gemm_wgmma", {{"cluster", "2"}, {"warpgroups", "alone"}, {"n", "264"}}},
        Case{"flash_attention", {{"causal", "false"}, {"sequence", "97"}, {"batch", "2"}}},
        Case{"flash_attention", {{"head_dim", "128"}, {"sequence", "130"}}},
        Case{"flash_attention", {{"head_dim", "128"}, {"sequence", "70"}, {"causal", "false"}}},
        Case{"flash_wgmma", {{"head_dim", "64"}, {"sequence", "450"}, {"heads", "2"}}},
        Case{"flash_wgmma", {{"causal", "false"}, {"sequence", "360"}, {"blocks", "2"}}},
        Case{"flash_wgmma", {{"causal", "false"}, {"head_dim", "64"}, {"sequence", "200"}}},
        Case{"flash_wgmma",
             {{"heads", "4"}, {"kv_heads", "2"}, {"sequence", "300"}, {"blocks", "0"}}},
        Case{"paged_decode", {{"head_dim", "128"}, {"heads", "8"}, {"sequence", "300"}}},
        Case{"paged_decode",
             {{"heads", "16"},
              {"kv_heads", "1"},
              {"batch", "3"},
              {"page", "64"},
              {"split", "128"},
              {"sequence", "290"}}},
        Case{"topk", {{"levels", "20"}, {"k", "33"}}},  // several equal at the border
        Case{"llm_layer",
             {{"mode", "prefill"}, {"units", "tensor"}, {"batch", "2"}, {"sequence", "40"}}},
        Case{"llm_layer",
             {{"mode", "prefill"},
              {"units", "tensor"},
              {"sequence", "65"},
              {"hidden", "72"},
              {"intermediate", "88"}}},
        Case{"llm_layer", {{"mode", "prefill"}, {"batch", "2"}, {"sequence", "40"}}},
        Case{"llm_layer",
             {{"batch", "5"},
              {"heads", "4"},
              {"kv_heads", "2"},
              {"hidden", "264"},
              {"intermediate", "272"},
              {"sequence", "90"},
              {"split", "64"}}}),
    case_name);

// One element, one less and one more than a block or tile, blocks that are no multiple of a warp.
INSTANTIATE_TEST_SUITE_P(
    Edges, LanguageModel,
    ::testing::Values(
        Case{"rms_norm", {{"rows", "1"}, {"hidden", "8"}}},
        Case{"rms_norm", {{"hidden", "2056"}, {"block", "32"}, {"residual", "true"}}},
        Case{"softmax", {{"columns", "4"}}}, Case{"softmax", {{"columns", "516"}}},
        Case{"softmax", {{"rows", "1"}, {"columns", "4"}, {"readings", "three"}}},
        Case{"rotary", {{"tokens", "1"}, {"heads", "1"}, {"kv_heads", "1"}, {"head_dim", "16"}}},
        Case{"rotary", {{"tokens", "40"}, {"head_dim", "80"}, {"block", "33"}}},
        Case{"swiglu", {{"rows", "1"}, {"width", "8"}}}, Case{"swiglu", {{"width", "2048"}}},
        Case{"swiglu", {{"width", "2056"}, {"block", "33"}}},
        Case{"quantize", {{"rows", "1"}, {"columns", "8"}}},
        Case{"quantize", {{"columns", "2056"}, {"block", "32"}}},
        Case{"attention", {{"sequence", "1"}}}, Case{"attention", {{"sequence", "32"}}},
        Case{"attention", {{"sequence", "33"}, {"heads", "1"}}},
        Case{"attention", {{"mode", "decode"}, {"sequence", "1"}, {"page", "1"}}},
        Case{"attention", {{"mode", "decode"}, {"sequence", "512"}, {"split", "512"}}},
        Case{"attention", {{"mode", "decode"}, {"sequence", "40"}, {"split", "1"}}},
        Case{"gemm_mma", {{"m", "1"}, {"n", "8"}, {"k", "8"}}},
        Case{"gemm_mma", {{"m", "65"}, {"n", "64"}, {"k", "64"}, {"stages", "4"}}},
        Case{"gemm_wgmma", {{"m", "1"}, {"n", "8"}, {"k", "8"}}},
        Case{"gemm_wgmma", {{"m", "129"}, {"n", "128"}, {"k", "64"}, {"cluster", "4"}}},
        Case{"gemm_wgmma", {{"m", "128"}, {"n", "136"}, {"k", "72"}, {"warpgroups", "alone"}}},
        Case{"flash_wgmma", {{"sequence", "1"}, {"batch", "3"}}},
        Case{"flash_wgmma", {{"sequence", "129"}, {"batch", "2"}, {"blocks", "1"}}},
        Case{"flash_wgmma", {{"sequence", "192"}, {"head_dim", "64"}, {"causal", "false"}}},
        Case{"flash_attention", {{"sequence", "1"}, {"heads", "1"}}},
        Case{"flash_attention", {{"sequence", "64"}, {"causal", "false"}}},
        Case{"flash_attention", {{"sequence", "129"}, {"heads", "1"}}},
        Case{"paged_decode", {{"sequence", "1"}}}, Case{"paged_decode", {{"sequence", "64"}}},
        Case{"paged_decode", {{"sequence", "65"}, {"heads", "2"}, {"batch", "1"}}},
        Case{"topk", {{"columns", "1"}, {"k", "1"}}},
        Case{"topk", {{"columns", "256"}, {"k", "256"}, {"block", "1024"}}},
        Case{"topk", {{"levels", "1"}, {"k", "256"}}},  // all are equal
        Case{"topk", {{"temperature", "0.01"}}}, Case{"topk", {{"temperature", "100"}}},
        Case{"llm_layer", {{"sequence", "1"}}}, Case{"llm_layer", {{"batch", "4"}, {"page", "1"}}},
        Case{"llm_layer", {{"mode", "prefill"}, {"sequence", "1"}}},
        Case{"llm_layer",
             {{"mode", "prefill"}, {"sequence", "65"}, {"hidden", "72"}, {"intermediate", "88"}}}),
    case_name);

class LanguageModelRefused : public ::testing::TestWithParam<std::pair<Case, std::string>> {};

TEST_P(LanguageModelRefused, SaysWhatContradicts) {
  const auto& [bad, message] = GetParam();
  auto workload = make_workload(bad.name, bad.parameters);
  EXPECT_THAT(workload->violations(), Contains(HasSubstr(message)));
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, LanguageModelRefused,
    ::testing::Values(
        std::pair(Case{"rms_norm", {{"hidden", "100"}}}, "hidden must be a multiple of 8, is 100"),
        std::pair(Case{"rms_norm", {{"block", "48"}}}, "block must be a multiple of 32, is 48"),
        std::pair(Case{"softmax", {{"columns", "1001"}}}, "columns must be a multiple of 4"),
        std::pair(Case{"rotary", {{"head_dim", "24"}}}, "head_dim must be a multiple of 16, is 24"),
        std::pair(Case{"swiglu", {{"width", "12"}}}, "width must be a multiple of 8, is 12"),
        std::pair(Case{"quantize", {{"columns", "12"}}}, "columns must be a multiple of 8, is 12"),
        std::pair(Case{"attention", {{"head_dim", "96"}}}, "head_dim must be 64 or 128, is 96"),
        std::pair(Case{"attention", {{"heads", "3"}, {"kv_heads", "2"}}},
                  "heads must be a multiple of kv_heads, is 3"),
        std::pair(Case{"attention", {{"page", "12"}}}, "page must be a power of two, is 12"),
        std::pair(Case{"attention", {{"units", "tensor"}, {"mode", "decode"}}},
                  "units=tensor needs mode=prefill"),
        std::pair(Case{"llm_layer", {{"units", "tensor"}}}, "units=tensor needs mode=prefill"),
        std::pair(Case{"gemm_mma", {{"n", "100"}}}, "n must be a multiple of 8, is 100"),
        std::pair(Case{"gemm_mma", {{"k", "12"}}}, "k must be a multiple of 8, is 12"),
        std::pair(Case{"gemm_wgmma", {{"k", "12"}}}, "k must be a multiple of 8, is 12"),
        std::pair(Case{"gemm_wgmma", {{"warpgroups", "alone"}, {"tile", "256x128"}}},
                  "warpgroups=alone has tile=128x128 only, not 256x128"),
        std::pair(Case{"gemm_wgmma", {{"stages", "8"}}},
                  "stages of 128x128 must take at most 230400 bytes of shared memory, take 262144"),
        std::pair(Case{"flash_attention", {{"head_dim", "96"}}}, "head_dim must be 64 or 128"),
        std::pair(Case{"flash_attention", {{"heads", "3"}, {"kv_heads", "2"}}},
                  "heads must be a multiple of kv_heads, is 3"),
        std::pair(Case{"paged_decode", {{"heads", "64"}}}, "must not exceed 16 * kv_heads = 32"),
        std::pair(Case{"paged_decode", {{"page", "24"}}}, "page must be a power of two, is 24"),
        std::pair(Case{"paged_decode", {{"split", "96"}}}, "split must be a multiple of 64, is 96"),
        std::pair(Case{"topk", {{"columns", "7"}}}, "k must not exceed columns = 7"),
        std::pair(Case{"llm_layer", {{"hidden", "100"}}}, "hidden must be a multiple of 8, is 100"),
        std::pair(Case{"llm_layer", {{"page", "12"}}}, "page must be a power of two, is 12")));

}  // namespace

}  // namespace raddle::runtime::language_model_workloads_test
