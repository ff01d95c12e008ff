#include "rehearsal/tools/dcgmi.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kVersion = "4.4.1";

struct Outcome {
  const DcgmTest* test = nullptr;
  std::vector<DcgmResult> results{};

  std::string summary() const {
    std::string status = "Skip";
    for (const auto& result : results) {
      if (result.status == "Fail") return "Fail";
      if (result.status == "Pass") status = "Pass";
    }
    return status;
  }
};

json::object as_json(const Outcome& outcome) {
  json::array results;
  for (const auto& result : outcome.results) {
    json::object one{{"entity_group", "GPU"},
                     {"entity_group_id", 1},
                     {"entity_id", result.gpu},
                     {"status", result.status}};
    json::array warnings;
    for (const auto& error : result.errors)
      warnings.push_back(json::object{{"error_category", error.category},
                                      {"error_id", error.id},
                                      {"error_severity", error.severity},
                                      {"warning", error.text}});
    if (!warnings.empty()) one["warnings"] = std::move(warnings);
    results.push_back(std::move(one));
  }
  return {{"name", outcome.test->name},
          {"results", std::move(results)},
          {"test_summary", json::object{{"status", outcome.summary()}}}};
}

std::string report_json(const DriverView& driver, std::span<const Outcome> outcomes) {
  json::array categories, entities;
  for (const auto* category : {"Deployment", "Integration", "Hardware", "Stress"}) {
    json::array tests;
    for (const auto& outcome : outcomes)
      if (outcome.test->category == category) tests.push_back(as_json(outcome));
    if (!tests.empty())
      categories.push_back(json::object{{"category", category}, {"tests", std::move(tests)}});
  }
  for (const auto& gpu : driver.gpus)
    entities.push_back(json::object{{"device_id", gpu.model.device},
                                    {"entity_id", gpu.index},
                                    {"serial_num", gpu.part.serial}});
  const json::object group{
      {"entities", std::move(entities)}, {"entity_group", "GPU"}, {"entity_group_id", 1}};
  const json::object all{
      {"DCGM Diagnostic", json::object{{"test_categories", std::move(categories)}}},
      {"entity_groups", json::array{group}},
      {"metadata",
       json::object{{"Driver Version Detected", driver.version}, {"version", kVersion}}}};
  return json::serialize(all) + "\n";
}

std::string table_row(std::string_view left, std::string_view right) {
  return fmt::format("| {:<25} | {:<46} |\n", left, right.substr(0, 46));
}

std::string report_table(const DriverView& driver, std::span<const Outcome> outcomes) {
  const std::string rule =
      "+---------------------------+------------------------------------------------+\n";
  auto text =
      "Successfully ran diagnostic for group.\n" + rule + table_row("Diagnostic", "Result") +
      "+===========================+================================================+\n"
      "|-----  Metadata  ----------+------------------------------------------------|\n" +
      table_row("DCGM Version", kVersion) + table_row("Driver Version Detected", driver.version) +
      table_row("GPU Device IDs Detected",
                driver.gpus.empty() ? "" : driver.gpus.front().model.device);
  std::string_view last;
  for (const auto* category : {"Deployment", "Integration", "Hardware", "Stress"})
    for (const auto& outcome : outcomes) {
      if (outcome.test->category != category) continue;
      if (last != category)
        text += fmt::format("|-----  {:-<19}+------------------------------------------------|\n",
                            std::string{category} + "  ");
      last = category;
      text += table_row(outcome.test->name, outcome.summary());
      for (const auto& result : outcome.results) {
        if (result.status != "Skip")
          text += table_row("", fmt::format("{}: GPU{}", result.status, result.gpu));
        for (const auto& error : result.errors)
          text += table_row(fmt::format("Warning: GPU{}", result.gpu), error.text);
      }
    }
  return text + rule;
}

/// "1", "2", "3", "4", "short", "medium", "long", "xlong", or names of tests.
std::vector<Outcome> chosen(std::string_view what) {
  constexpr std::array<std::string_view, 4> kWords{"short", "medium", "long", "xlong"};
  int level = number<int>(what).value_or(0);
  for (std::size_t i = 0; i < kWords.size(); ++i)
    if (what == kWords[i]) level = static_cast<int>(i) + 1;
  std::vector<Outcome> outcomes;
  for (const auto& test : dcgm_tests()) {
    bool selected = level >= test.level;
    for (const auto name : split(what, ',')) selected |= trimmed(name) == test.name;
    if (selected) outcomes.push_back({.test = &test});
  }
  return outcomes;
}

struct DiagRequest {
  bool json = false, fail_early = false;
  std::string level{}, gpus{}, wrong{};
};

DiagRequest read_diag(const Arguments& arguments) {
  DiagRequest request;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    const auto value = [&] { return i + 1 < arguments.size() ? arguments[++i] : std::string{}; };
    if (word == "-r" || word == "--run")
      request.level = value();
    else if (word == "-j" || word == "--json")
      request.json = true;
    else if (word == "-i" || word == "--entity-id")
      request.gpus = value();
    else if (word == "--fail-early")
      request.fail_early = true;
    else if (word == "-p" || word == "--parameters" || word == "-g" || word == "--group" ||
             word == "--host" || word == "-c" || word == "--configfile")
      value();
    else if (word != "-v" && word != "--verbose")
      request.wrong = word;
  }
  return request;
}

/// "0,1" and "gpu:0".
bool is_chosen(const GpuView& gpu, std::string_view ids) {
  if (ids.empty() || ids == "*") return true;
  for (const auto one : split(ids, ',')) {
    const auto id = trimmed(one);
    if (number<int>(id.starts_with("gpu:") ? id.substr(4) : id) == gpu.index) return true;
  }
  return false;
}

Task<int> print_error_of_option(ProcessPtr process, std::string what) {
  const auto text = fmt::format(
      "PARSE ERROR: Argument: {}\n             Couldn't find match for argument\n\nBrief USAGE: \n "
      "  dcgmi diag -r <1..4> [-j] [-i <gpus>]\n",
      what);
  co_await process->print_error(text);
  co_return 1;
}

Task<void> run_test(ProcessPtr process, Outcome& outcome, std::string ids) {
  auto& host = process->host;
  std::vector<int> places;
  for (const auto& gpu : look_at_gpus(host).gpus)
    if (is_chosen(gpu, ids) && !gpu.lost) places.push_back(gpu.part.index);
  std::optional<GpuWork> load;
  if (outcome.test->work != Work::idle)
    load.emplace(process, "/usr/libexec/datacenter-gpu-manager-4/nvvs", outcome.test->work, places,
                 60000);
  std::string fallen;
  if (load) {
    co_await load->last(VirtualTime{outcome.test->seconds});
    fallen = load->fallen();
  } else {
    co_await process->sleep(VirtualTime{outcome.test->seconds});
  }
  for (const auto& gpu : look_at_gpus(host).gpus) {
    if (!is_chosen(gpu, ids)) continue;
    DcgmResult result{.gpu = gpu.index};
    outcome.test->judge(host, gpu, result);
    if (gpu.lost) {
      result.status = "Fail";
      result.errors.push_back({101, 3, 2, fmt::format("Detected XID 79 for GPU {}", gpu.index)});
    }
    outcome.results.push_back(std::move(result));
  }
}

Task<int> diagnose(ProcessPtr process, Arguments arguments) {
  const auto request = read_diag(arguments);
  if (!request.wrong.empty()) co_return co_await print_error_of_option(process, request.wrong);
  auto outcomes = chosen(request.level);
  if (outcomes.empty()) {
    co_await process->say("Error: requested test(s) were not found.\n");
    co_return 1;
  }
  const auto trouble = cuda_error(process->host);
  if (trouble && trouble->code != 999) {
    const auto text = fmt::format(
        "Error when executing the diagnostic: Nvvs stderr: \n{} (cuInit returned {}: {})\n",
        "Unable to initialize CUDA", trouble->code, trouble->text);
    co_await process->say(text);
    co_return 226;
  }
  bool failed = false;
  for (auto& outcome : outcomes) {
    if (failed && request.fail_early) break;
    co_await run_test(process, outcome, request.gpus);
    if (process->fatal() != 0) co_return 128 + process->fatal();
    failed |= outcome.summary() == "Fail";
  }
  std::erase_if(outcomes, [](const Outcome& outcome) { return outcome.results.empty(); });
  const auto driver = look_at_gpus(process->host);
  const auto text = request.json ? report_json(driver, outcomes) : report_table(driver, outcomes);
  co_await process->say(text);
  co_return failed ? 226 : 0;
}

std::string discovery(const DriverView& driver, const Hardware& hardware) {
  const std::string rule =
      "+--------+----------------------------------------------------------------------+\n";
  const auto row = [](std::string_view id, const std::string& text) {
    return fmt::format("| {:<6} | {:<68} |\n", id, text);
  };
  auto text = fmt::format("{} GPUs found.\n", driver.gpus.size()) + rule +
              row("GPU ID", "Device Information") + rule;
  for (const auto& gpu : driver.gpus)
    text += row(std::to_string(gpu.index), "Name: " + gpu.product()) +
            row("", "PCI Bus ID: " + gpu.bus_id()) + row("", "Device UUID: " + gpu.part.uuid) +
            rule;
  text += fmt::format("{} NvSwitches found.\n+-----------+\n| Switch ID |\n+-----------+\n",
                      hardware.nvswitches.size());
  for (std::size_t i = 0; i < hardware.nvswitches.size(); ++i)
    text += fmt::format("| {:<9} |\n+-----------+\n", i);
  if (hardware.nvswitches.empty()) text += "+-----------+\n";
  return text +
         "0 ConnectX found.\n+----------+\n| ConnectX |\n+----------+\n+----------+\n"
         "0 CPUs found.\n" +
         rule + row("CPU ID", "Device Information") + rule + rule;
}

/// What passive watches see: nothing is loaded.
std::vector<std::pair<int, std::string>> health_findings(const Host& host,
                                                         const DriverView& driver) {
  std::vector<std::pair<int, std::string>> found;
  for (const auto& gpu : driver.gpus) {
    DcgmResult result{.gpu = gpu.index};
    for (const auto& test : dcgm_tests())
      if (test.name == "software" || test.name == "memory" || test.name == "nvbandwidth")
        test.judge(host, gpu, result);
    for (const auto& error : result.errors) found.emplace_back(gpu.index, error.text);
    if (gpu.lost) found.emplace_back(gpu.index, "Detected XID 79");
  }
  return found;
}

std::string health(const Host& host, const DriverView& driver, bool as_json_text) {
  const auto found = health_findings(host, driver);
  const std::string overall = found.empty() ? "Healthy" : "Failure";
  if (as_json_text) {
    json::object body{{"Overall Health", json::object{{"value", overall}}}};
    for (const auto& [gpu, text] : found)
      body[fmt::format("GPU {}", gpu)] = json::object{{"value", text}};
    const json::object all{{"header", json::array{"Health Monitor Report"}}, {"body", body}};
    return json::serialize(all) + "\n";
  }
  const std::string rule =
      "+---------------------------+----------------------------------------------------------+\n";
  auto text = rule +
              "| Health Monitor Report                                                     "
              "           |\n+===========================+======================================="
              "===================+\n" +
              fmt::format("| {:<25} | {:<56} |\n", "Overall Health", overall);
  for (const auto& [gpu, what] : found)
    text += fmt::format("| GPU {:<21} | {:<56} |\n", gpu, what.substr(0, 56));
  return text + rule;
}

std::string link_states(const DriverView& driver) {
  std::string text =
      "+----------------------+\n|  NvLink Link Status  |\n+----------------------+\nGPUs:\n";
  for (const auto& gpu : driver.gpus) {
    text += fmt::format("    gpuId {}:\n        ", gpu.index);
    for (std::size_t i = 0; i < gpu.links.size(); ++i)
      text += std::string{i > 0 ? " " : ""} + (gpu.links[i].up ? "U" : "D");
    text += "\n";
  }
  return text +
         "NvSwitches:\n    No NvSwitches found.\n\nKey: Up=U, Down=D, Disabled=X, Not "
         "Supported=_\n";
}

std::string link_errors(const DriverView& driver, int requested) {
  std::string text;
  for (const auto& gpu : driver.gpus) {
    if (gpu.index != requested) continue;
    const std::string rule =
        "+-----------------------------+------------------------------------------------+\n";
    text += rule + fmt::format(
                       "| NVLINK Error Counts                                                      "
                       "    |\n| GPU {:<72} |\n",
                       gpu.index);
    for (std::size_t i = 0; i < gpu.links.size(); ++i) {
      const auto& link = gpu.links[i];
      text += fmt::format(
          "+=============================+================================================+\n"
          "| Link {:<22} |                                                |\n"
          "| -> CRC FLIT Error           | {:<46} |\n| -> CRC Data Error           | {:<46} |\n"
          "| -> Replay Error             | {:<46} |\n| -> Recovery Error           | {:<46} |\n",
          i, link.crc, link.crc, link.replays, link.recoveries);
    }
    text += rule;
  }
  return text;
}

}  // namespace

Task<int> dcgmi(ProcessPtr process, Arguments arguments) {
  const auto what = arguments.size() > 1 ? arguments[1] : std::string{};
  const auto has = [&](std::string_view word) { return std::ranges::count(arguments, word) > 0; };
  if (what == "-v" || what == "--version") {
    const auto line = fmt::format("\ndcgmi  version: {}\n\n", kVersion);
    co_await process->say(line);
    co_return 0;
  }
  const auto driver = look_at_gpus(process->host);
  if (driver.library != driver.version) {
    co_await process->say(
        "Error: unable to establish a connection to the specified host: localhost\n"
        "Error: Unable to connect to host engine. Host engine connection invalid/disconnected.\n");
    co_return 211;
  }
  if (what == "diag") co_return co_await diagnose(process, std::move(arguments));
  std::string text;
  if (what == "discovery" && (has("-l") || has("--list"))) {
    text = discovery(driver, process->host.machine().hardware());
  } else if (what == "health" && (has("-c") || has("--check"))) {
    text = health(process->host, driver, has("-j") || has("--json"));
  } else if (what == "health" && (has("-s") || has("--set"))) {
    text = "Health monitor systems set successfully.\n";
  } else if (what == "nvlink" && (has("-s") || has("--link-status"))) {
    text = link_states(driver);
  } else if (what == "nvlink" && (has("-e") || has("--errors"))) {
    const auto id = number<int>(arguments.back()).value_or(0);
    text = link_errors(driver, id);
  } else {
    co_return co_await print_error_of_option(process, what.empty() ? "(none)" : what);
  }
  co_await process->say(text);
  co_return 0;
}

}  // namespace cupel::rehearsal
