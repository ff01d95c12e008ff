#include "rehearsal/tools/cupel_burn.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/cuda_libraries.h"
#include "rehearsal/tools/cupel_burn_across.h"
#include "rehearsal/tools/cupel_burn_work.h"

namespace cupel::rehearsal {
namespace {

constexpr int kTerminate = 15, kInterrupt = 2;
constexpr int kWell = 0, kFault = 1, kUnknown = 2, kStopped = 4, kUsage = 64;

BurnRequest read_request(const Arguments& arguments) {
  BurnRequest request;
  if (arguments.size() > 1) request.command = arguments[1];
  const auto commands = burn_commands();
  if (std::ranges::find(commands, request.command, &BurnCommand::name) == commands.end()) {
    request.wrong = fmt::format("no command \"{}\"; see cupel-burn help", request.command);
    return request;
  }
  request.words = burn_words(request.command);
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto& name = arguments[i];
    if (name == "--self-test") {
      request.self_test = true;
      continue;
    }
    const bool known = name == "--seconds" || request.words.contains(name);
    if (!known || i + 1 == arguments.size()) {
      request.wrong = known ? name + ": a value is missing" : "no option " + name;
      return request;
    }
    const auto& value = arguments[++i];
    if (name == "--seconds") {
      const auto seconds = number<double>(value);
      if (!seconds || !(*seconds > 0 && *seconds <= 1e7)) {
        request.wrong = "--seconds " + value + ": a number above 0";
        return request;
      }
      request.seconds = *seconds;
    } else {
      request.words[name] = value;
    }
  }
  return request;
}

std::string line_of(const json::object& object) { return json::serialize(object) + "\n"; }

/// There while this command works, whether it is always there or only under that load. An SM that
/// computes wrongly leaves the memory right.
const Fault* wrong_results(const Machine& machine, const std::string& gpu, Work work) {
  for (const auto& fault : machine.faults()) {
    const bool mine = fault.kind == FaultKind::gpu_wrong_results && fault.part == gpu;
    const auto& under = fault.timing.under;
    const bool always = under.empty() && work != Work::hbm;
    if (mine && (always || under == to_string(work))) return &fault;
  }
  return nullptr;
}

class Burn {
 public:
  Burn(ProcessPtr process, BurnRequest request, const BurnCommand& command)
      : process_{std::move(process)},
        request_{std::move(request)},
        command_{command},
        began_{process_->host.machine().clock().elapsed().count()} {
    process_->caught.insert({kTerminate, kInterrupt});
  }

  Task<int> run() {
    auto trouble = why_not();
    const auto missing = missing_library(*process_, request_.command);
    if (trouble.empty() && !missing.empty())
      trouble = line_of({{"kind", "error"}, {"code", "no-library"}, {"message", missing}});
    if (trouble.empty()) {
      gpus_ = cuda_devices(process_->host);
      const auto text = line_of(start());
      co_await process_->say(text);
      const auto refused = burn_refusal(process_->host, request_);
      if (!refused.empty())
        trouble = line_of({{"kind", "error"}, {"code", "nccl"}, {"message", refused}});
    }
    if (!trouble.empty()) {
      co_await process_->say(trouble);
      co_return co_await end(false, kUnknown);
    }
    if (request_.self_test) co_return co_await test_itself();
    co_return co_await burn();
  }

 private:
  /// What cupel-burn says where CUDA does not begin.
  std::string why_not() const {
    const auto error = cuda_error(process_->host);
    if (!error) return {};
    const bool none = error->code != 999;
    return line_of({{"kind", "error"},
                    {"code", none ? "no-cuda-device" : "cuda"},
                    {"message", fmt::format("{}cudaGetDeviceCount: {} ({}): {}",
                                            error->code == 100 ? "no CUDA device: " : "",
                                            error->name, error->code, error->text)}});
  }

  json::object start() const {
    json::array gpus;
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      gpus.push_back(json::object{{"index", i},
                                  {"uuid", gpus_[i].part.uuid},
                                  {"pci", gpus_[i].part.pci},
                                  {"name", gpus_[i].product()},
                                  {"sms", gpus_[i].model.sms},
                                  {"memory", static_cast<std::uint64_t>(gpus_[i].part.bytes)}});
    json::object line{{"kind", "start"},
                      {"program", "cupel-burn"},
                      {"version", CUPEL_VERSION},
                      {"protocol", 1},
                      {"command", request_.command},
                      {"cuda", "13.0"},
                      {"driver", driver_version(process_->host.machine().hardware())}};
    if (request_.command == "collective" || request_.command == "train") line["nccl"] = "2.27.7";
    line["gpus"] = std::move(gpus);
    json::object parameters{{"seconds", request_.seconds}};
    for (const auto& [name, value] : request_.words) parameters[name.substr(2)] = value;
    line["parameters"] = std::move(parameters);
    return line;
  }

  double now() const { return process_->host.machine().clock().elapsed().count(); }

  Task<int> end(bool complete, int status) {
    const bool stopped = !process_->pending.empty();
    const auto text = line_of({{"kind", "end"},
                               {"seconds", now() - began_},
                               {"faults", faults_},
                               {"complete", complete && !stopped},
                               {"stopped", stopped}});
    co_await process_->say(text);
    co_return faults_ > 0 ? kFault : stopped ? kStopped : status;
  }

  Task<int> test_itself() {
    constexpr VirtualTime kTakes{4};
    std::vector<int> places;
    for (const auto& gpu : gpus_) places.push_back(gpu.part.index);
    GpuWork work{process_, "cupel-burn", Work::idle, std::move(places), 1200};
    const bool whole = co_await work.last(kTakes);
    if (!whole) co_return co_await lost(work.fallen());
    const auto text = line_of({{"kind", "self-test"},
                               {"planted", std::string{command_.planted}},
                               {"found", true},
                               {"detail", fmt::format("{0} of {0}", gpus_.size())}});
    co_await process_->say(text);
    co_return co_await end(true, kWell);
  }

  /// A GPU is gone: what follows fails with it.
  Task<int> lost(std::string fallen) {
    if (!fallen.empty()) {
      const auto found =
          std::ranges::find(gpus_, fallen, [](const auto& gpu) { return gpu.part.name; });
      const auto part = fmt::format("gpu{}", found - gpus_.begin());
      const auto text = line_of({{"kind", "error"},
                                 {"code", "cuda"},
                                 {"part", part},
                                 {"message", "cudaStreamSynchronize: cudaErrorUnknown (999)"}});
      co_await process_->say(text);
    }
    co_return co_await end(false, kUnknown);
  }

  /// At least every ten seconds in life; a soak of days would only tell the same again.
  double slice() const { return std::clamp(request_.seconds / 60, 10.0, 600.0); }

  Task<int> burn() {
    std::vector<int> places;
    for (const auto& gpu : gpus_) places.push_back(gpu.part.index);
    GpuWork work{process_, "cupel-burn", command_.work, std::move(places), memory()};
    std::uint64_t round = 0;
    for (double done = 0; done < request_.seconds; ++round) {
      const double span = std::min(slice(), request_.seconds - done);
      const bool whole = co_await work.last(VirtualTime{span});
      if (!whole) co_return co_await lost(work.fallen());
      done += span;
      const auto text = reported(round, span, done);
      co_await process_->say(text);
    }
    const auto text = results();
    co_await process_->say(text);
    co_return co_await end(true, kWell);
  }

  int memory() const {
    double least = 1e9;
    for (const auto& gpu : gpus_)
      least = std::min(least, static_cast<double>(gpu.mib() - gpu.model.reserved_mib));
    return command_.work == Work::hbm ? static_cast<int>(least * 0.97) : 12000;
  }

  /// What is reported at the end of a slice, and kept for the end of the run.
  std::string reported(std::uint64_t round, double span, double done) {
    const auto& machine = process_->host.machine();
    std::vector<BurnSample> fresh;
    command_.measure(machine, BurnRun{request_, gpus_, round, rail_rate(process_->host)}, fresh);
    for (auto& each : fresh) keep(std::move(each));
    auto text = mistakes(round, span);
    return text + line_of({{"kind", "progress"},
                           {"seconds", now() - began_},
                           {"of", request_.seconds},
                           {"round", round},
                           {"doing", fmt::format("{} at {:.0f} s", request_.command, done)}});
  }

  void keep(BurnSample sample) {
    const auto key = sample.name + " " + sample.part + " " + json::serialize(sample.labels);
    const auto [place, is_new] = places_.emplace(key, kept_.size());
    if (is_new) kept_.push_back({sample, {}});
    kept_[place->second].second.push_back(sample.value);
  }

  std::string mistakes(std::uint64_t round, double span) {
    constexpr int kMost = 20;  // lines of one slice
    const auto& machine = process_->host.machine();
    std::string text;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const auto& gpu = gpus_[i].part;
      const auto* fault = wrong_results(machine, gpu.name, command_.work);
      const double expected = fault == nullptr ? 0 : command_.mistakes_a_second * span;
      const double drawn = Draw{4}.of(machine.hardware().serial).of(gpu.name).of(round).uniform();
      const int count = static_cast<int>(expected + drawn * (expected > 0 ? 1 : 0));
      counts_[i] += count;
      faults_ += count;
      for (int k = 0; k < std::min(count, kMost); ++k)
        text += line_of({{"kind", "fault"},
                         {"what", "wrong-result"},
                         {"part", fmt::format("gpu{}", i)},
                         {"sm", fault->number.value_or(0)},
                         {"round", round * 40 + static_cast<std::uint64_t>(k)},
                         {"celsius", static_cast<int>(machine.physics().gpu(gpu.index).celsius)},
                         {"detail", "the checksum is not the first pass's"}});
    }
    return text;
  }

  std::string results() {
    std::string text;
    for (auto& [sample, values] : kept_) {
      std::ranges::sort(values);
      const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
      };
      const double median = at(0.5), width = at(0.95) - at(0.05);
      const double spread = median > 0 ? 100 * width / median : 0;
      text += line_of({{"kind", "result"},
                       {"name", sample.name},
                       {"part", sample.part},
                       {"value", median},
                       {"unit", sample.unit},
                       {"labels", sample.labels},
                       {"count", values.size()},
                       {"spread", spread}});
      if (sample.name == "gemm.rate")
        text += line_of(result("gemm.spread", sample.part, spread, "%"));
    }
    if (command_.wrong.empty()) return text;
    double all = 0;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      all += counts_[i];
      if (!command_.of_node)
        text += line_of(
            result(command_.wrong, fmt::format("gpu{}", i), counts_[i], command_.wrong_unit));
    }
    if (command_.of_node) text += line_of(result(command_.wrong, "", all, command_.wrong_unit));
    return text;
  }

  static json::object result(std::string_view name, const std::string& part, double value,
                             std::string_view unit) {
    return {
        {"kind", "result"},          {"name", std::string{name}}, {"part", part}, {"value", value},
        {"unit", std::string{unit}}, {"labels", json::object{}},  {"count", 1},   {"spread", 0}};
  }

  ProcessPtr process_;
  BurnRequest request_;
  const BurnCommand& command_;
  double began_ = 0;
  std::vector<GpuView> gpus_{};
  std::vector<std::pair<BurnSample, std::vector<double>>> kept_{};
  std::map<std::string, std::size_t> places_{};
  std::map<std::size_t, double> counts_{};
  double faults_ = 0;
};

}  // namespace

Task<int> cupel_burn(ProcessPtr process, Arguments arguments) {
  if (arguments.size() > 1 && arguments[1] == "--version") {
    co_await process->say("cupel-burn " CUPEL_VERSION "\n");
    co_return 0;
  }
  if (arguments.size() > 1 && arguments[1] == "libraries") {
    const auto text = library_lines(*process);
    co_await process->say(text);
    co_return 0;
  }
  if (arguments.size() > 1 && arguments[1] == "nccl-id")
    co_return co_await burn_nccl_id(process, arguments);
  if (is_across(arguments)) co_return co_await burn_across(process, arguments);
  auto request = read_request(arguments);
  if (!request.wrong.empty()) {
    const auto text = line_of({{"kind", "error"}, {"code", "usage"}, {"message", request.wrong}}) +
                      line_of({{"kind", "end"},
                               {"seconds", 0},
                               {"faults", 0},
                               {"complete", false},
                               {"stopped", false}});
    co_await process->say(text);
    co_return kUsage;
  }
  const auto commands = burn_commands();
  const auto command = std::ranges::find(commands, request.command, &BurnCommand::name);
  Burn burn{process, std::move(request), *command};
  co_return co_await burn.run();
}

}  // namespace cupel::rehearsal
