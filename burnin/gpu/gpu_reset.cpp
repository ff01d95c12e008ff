#include "burnin/gpu/gpu_reset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "burnin/agent_stage.h"
#include "burnin/gpu/gpu_places.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;

constexpr std::string_view kStage = "gpu-reset", kFlaky = "flaky";
constexpr std::size_t kMostGpus = 256;
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::array<std::string_view, 4> kMeasures{kResetNeeded, kResetDone, kResetMayPass,
                                                    kResetRestart};
constexpr std::array<std::string_view, 3> kFlakyWords{"fail", "contained", "pass"};
constexpr std::array kParameters{
    ParameterRow{kFlaky, ParameterRow::Kind::word,
                 "what a GPU may do that needed a reset and tests well behind it: fail; contained: "
                 "pass where its memory errors were contained; pass",
                 "fail", kFlakyWords}};

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto flaky, word_parameter(kParameters, parameters, kFlaky));
  constexpr std::chrono::seconds kUsual{15}, kLimit{3600};
  return agent_job({.stage = kStage, .order = {{kFlaky, flaky}}, .tools = {"nvidia-smi"}}, kUsual,
                   kLimit);
}

/// One GPU, as cupel-node reports it; every text is clean.
struct ResetGpu {
  std::string address{}, name{};
  std::string result{}, why{}, detail{};
  bool contained = false, other = true;

  bool needed() const { return !why.empty(); }
  bool done() const { return result == "reset"; }
  bool may_pass(std::string_view flaky) const {
    return !other && (flaky == "pass" || (flaky == "contained" && contained));
  }
  /// "Xid 95 at 4711.2 s; reset".
  std::string words() const {
    const auto what = done() ? std::string{"reset"} : "not reset: " + detail;
    return needed() ? fmt::format("{}; {}", why, what) : std::string{};
  }
};

std::optional<ResetGpu> gpu_of(const ToolOutput& tool) {
  const auto value = parse_json(tool.out);
  if (!value || !value->is_object() || tool.part.empty()) return std::nullopt;
  const auto word = [&](std::string_view key) {
    return script::clean(text_at(*value, key).value_or(""));
  };
  ResetGpu gpu{.address = tool.part, .result = word("result"), .why = word("why")};
  gpu.detail = word("detail");
  gpu.contained = flag_at(*value, "contained") == 1;
  gpu.other = flag_at(*value, "other") != 0;
  return gpu.result.empty() ? std::nullopt : std::optional{std::move(gpu)};
}

/// By the profile's places, as gpu-facts names them; where it has none of these in the order of
/// nvidia-smi.
void name_gpus(std::vector<ResetGpu>& gpus, const Profile& profile) {
  const auto places = gpu_places(profile);
  const bool placed = std::ranges::any_of(
      gpus, [&](const ResetGpu& gpu) { return gpu_at(gpu.address, places).has_value(); });
  std::size_t number = 0;
  for (auto& gpu : gpus) {
    gpu.name = placed ? gpu_at(gpu.address, places).value_or("gpu at " + gpu.address)
                      : fmt::format("gpu{}", number);
    ++number;
  }
}

void add_gpu(const ResetGpu& gpu, std::string_view flaky, Findings& findings) {
  const auto add = [&](std::string_view measure, bool yes) {
    findings.measurements.push_back(
        {std::string{measure}, gpu.name, yes ? 1.0 : 0.0, "", gpu.words()});
  };
  add(kResetNeeded, gpu.needed());
  if (!gpu.needed()) return;
  add(kResetDone, gpu.done());
  add(kResetMayPass, gpu.may_pass(flaky));
  findings.facts["gpu.flaky." + gpu.name] = gpu.words();
}

Findings findings_of(const std::vector<ResetGpu>& gpus, std::string_view flaky) {
  Findings findings;
  const auto of_node = [&](std::string_view measure, std::ptrdiff_t count) {
    findings.measurements.push_back({std::string{measure}, "", static_cast<double>(count), ""});
  };
  of_node(kResetNeeded, std::ranges::count_if(gpus, &ResetGpu::needed));
  of_node(kResetDone, std::ranges::count_if(gpus, &ResetGpu::done));
  const auto restarts = [](const ResetGpu& gpu) { return gpu.result == "restart"; };
  of_node(kResetRestart, std::ranges::any_of(gpus, restarts) ? 1 : 0);
  for (const auto& gpu : gpus) add_gpu(gpu, flaky, findings);
  return findings;
}

/// Without the log its Xids are not known, and what the driver asks for counts alone.
void add_unread_log(const AgentOutput& read, Findings& findings) {
  const auto* log = read.tool("dmesg");
  if (log != nullptr && log->status == 0 && !log->cut) return;
  findings.unknown.push_back({"Xids", "dmesg",
                              log == nullptr ? "the kernel's log was not read"
                                             : "the kernel's log: " + complaint_of(*log)});
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  TRY(const auto read, read_agent_output(kStage, output, {}));
  if (!read)
    return Error{Code::kNoMeasurement, "cupel-node did not begin: " + script::complaint(output)};
  std::vector<ResetGpu> gpus;
  for (const auto& tool : read->tools) {
    if (tool.name != "gpu" || gpus.size() == kMostGpus) continue;
    auto gpu = gpu_of(tool);
    if (!gpu) return Error{Code::kMalformed, "what cupel-node reports of a GPU cannot be read"};
    gpus.push_back(*std::move(gpu));
  }
  if (gpus.empty()) return Error{Code::kNoMeasurement, "nvidia-smi lists no GPU"};
  name_gpus(gpus, profile);
  const auto flaky = read->notes.find("flaky");
  auto findings = findings_of(gpus, flaky == read->notes.end() ? "fail" : flaky->second);
  add_unread_log(*read, findings);
  return findings;
}

}  // namespace

Stage gpu_reset() {
  return {kStage,
          "reset GPUs whose driver or Xids ask for it (nvidia-smi --gpu-reset)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.05, 0, "a GPU that starts draws little"},
          kPrograms};
}

bool resets_gpus(std::string_view step) { return base_name(step) == kStage; }

}  // namespace cupel::burnin
