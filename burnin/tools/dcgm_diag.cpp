#include "burnin/tools/dcgm_diag.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "burnin/tools/json_in_text.h"
#include "burnin/tools/tool_run.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kSource = "dcgmi diag", kStage = "dcgm-diag", kTool = "dcgmi";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::size_t kMostResults = 4096;  // of all tests together
constexpr std::size_t kMostParts = 512;
constexpr std::size_t kMostWords = 16;  // reported in words; the rest is counted

constexpr std::array<std::string_view, 4> kLevels{"1", "2", "3", "4"};
constexpr std::array kParameters{
    ParameterRow{"level", ParameterRow::Kind::word,
                 "1: software; 2: memory and PCIe; 3: stress, half an hour; 4: hours", "2",
                 kLevels},
};

/// What a level takes with eight GPUs, and after how long it hangs. Source: DCGM user guide,
/// "DCGM Diagnostics": under 2.5 s, 10.5 min, 35 min and 2.25 h at most.
struct Span {
  seconds expected, limit;
};
constexpr std::array<Span, 4> kSpans{Span{seconds{20}, minutes{5}}, Span{minutes{3}, minutes{15}},
                                     Span{minutes{15}, minutes{50}},
                                     Span{minutes{90}, minutes{180}}};

constexpr std::array<std::string_view, 5> kErrors{"dcgm.errors.isolate", "dcgm.errors.triage",
                                                  "dcgm.errors.config", "dcgm.errors.reset",
                                                  "dcgm.errors.other"};
constexpr std::array<std::string_view, 9> kMeasures{"dcgm.passed",  "dcgm.failed", "dcgm.warned",
                                                    "dcgm.skipped", kErrors[0],    kErrors[1],
                                                    kErrors[2],     kErrors[3],    kErrors[4]};

/// Place in kErrors. Source: dcgmErrorSeverity_enum.
std::size_t place_of(std::optional<double> severity) {
  if (severity == 2) return 0;
  if (severity == 4) return 1;
  if (severity == 5) return 2;
  if (severity == 6) return 3;
  return 4;
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  const auto level = text_parameter(kParameters, parameters, "level");
  const auto* found = std::ranges::find(kLevels, level);
  if (found == kLevels.end())
    return Error{Code::kInvalid, fmt::format("level must be 1, 2, 3 or 4, not '{}'",
                                             shortened(printable(level), 80))};
  const auto& span = kSpans[static_cast<std::size_t>(found - kLevels.begin())];
  return agent_job({.stage = kStage,
                    .order = {{"level", *number<int>(level)}, {"limit", span.limit.count()}},
                    .tools = {std::string{kTool}, "nvidia-smi"}},
                   span.expected, span.limit);
}

struct Tally {
  double passed = 0, failed = 0, warned = 0, skipped = 0;
  std::array<double, kErrors.size()> errors{};
};

/// What one test says of one part.
struct Sourced {
  std::string test{}, status{}, why{};
  double id = -1;
};

class Reader {
 public:
  explicit Reader(const ToolGpus& gpus) : gpus_{gpus} {}

  void read(const json::value& root);
  bool proves() const { return node_.passed + node_.failed + node_.warned > 0; }
  bool failed() const { return node_.failed > 0; }
  bool only_skipped() const { return node_.skipped > 0; }
  bool lost() const { return lost_; }
  /// Level 1 tests the software that all GPUs share: what passed there counts for each GPU, unless
  /// its own result says otherwise. Versions 2 and 3 report no GPU at all.
  void count_for_every_gpu();
  Findings findings() &&;

 private:
  void read_test(const json::value& test);
  void read_result(const std::string& test, const json::value& result);
  void count(const std::string& part, const Sourced& reported, bool complains);
  std::string read_errors(const json::value& result, const std::string& part);
  std::string part_of(const json::value& result) const;
  void say(const std::string& part, const Sourced& reported);

  const ToolGpus& gpus_;
  Tally node_{};
  std::map<std::string, Tally> parts_{};
  Findings findings_{};
  std::size_t results_ = 0;
  bool lost_ = false;  // more was reported than is kept: what is missing is not known
};

/// DCGM 4 names an entity; 3 a "gpu_id", 2 "gpu_ids" with one in it. Empty: the node.
std::string Reader::part_of(const json::value& result) const {
  const auto group = lower_case(text_at(result, "entity_group").value_or(""));
  const auto id = number_at(result, "entity_id");
  const auto whole = [](std::optional<double> number) {
    return number && *number >= 0 && *number < 4096 ? static_cast<int>(*number) : -1;
  };
  if (!group.empty() && whole(id) >= 0) {
    if (group == "gpu") return gpus_.name(whole(id));
    if (group.contains("switch")) return fmt::format("nvswitch{}", whole(id));
    if (group == "cpu") return fmt::format("cpu{}", whole(id));
    return {};
  }
  for (const auto* key : {"gpu_id", "gpu_ids"})
    if (const int gpu = whole(number_at(result, key)); gpu >= 0) return gpus_.name(gpu);
  return {};
}

/// Counts each error of a result; gives the first one's words. DCGM 2 says a text, 3 and 4 say
/// objects; the text of 3's first level is in "warnings" of such an object.
std::string Reader::read_errors(const json::value& result, const std::string& part) {
  const auto* reported = find(result, "warnings");
  if (reported == nullptr) return {};
  std::string first;
  const auto add = [&](const json::value& one) {
    const auto text = one.is_string()        ? std::optional{std::string{one.get_string()}}
                      : find(one, "warning") ? text_at(one, "warning")
                                             : text_at(one, "warnings");
    const auto place = place_of(number_at(one, "error_severity"));
    if (!part.empty()) ++parts_[part].errors[place];
    ++node_.errors[place];
    if (!first.empty()) return;
    const auto id = number_at(one, "error_id");
    first = (id ? fmt::format("error {:.0f}: ", *id) : std::string{}) + text.value_or("no words");
  };
  if (reported->is_array()) {
    for (const auto& one : reported->get_array()) add(one);
  } else if (reported->is_object() || (reported->is_string() && !reported->get_string().empty())) {
    add(*reported);
  }
  return first;
}

void Reader::say(const std::string& part, const Sourced& reported) {
  const auto fact = script::clean(reported.test + (part.empty() ? "" : " of " + part));
  const auto words =
      script::clean(reported.status + (reported.why.empty() ? "" : ", " + reported.why));
  if (reported.status == "Fail" || reported.status == "Warn") {
    if (findings_.facts.size() < kMostWords) findings_.facts["dcgm: " + fact] = words;
  } else if (findings_.unknown.size() < kMostWords) {
    findings_.unknown.push_back({fact, std::string{kSource}, words});
  }
}

void Reader::count(const std::string& part, const Sourced& reported, bool complains) {
  const auto add = [&](double Tally::* what) {
    ++(node_.*what);
    if (!part.empty()) ++(parts_[part].*what);
  };
  if (reported.status == "Pass" && !complains) return add(&Tally::passed);
  // One that says Pass and warns beside it has not passed: NVIDIA/DCGM issue 284.
  if (reported.status == "Pass") {
    auto warned = reported;
    warned.status = "Warn";
    say(part, warned);
    return add(&Tally::warned);
  }
  say(part, reported);
  if (reported.status == "Fail") return add(&Tally::failed);
  if (reported.status == "Warn") return add(&Tally::warned);
  add(&Tally::skipped);  // "Skip", "Not Run", and words that no version says
}

void Reader::read_result(const std::string& test, const json::value& result) {
  const auto part = part_of(result);
  const bool fits = part.empty() || parts_.contains(part) || parts_.size() < kMostParts;
  if (!result.is_object() || ++results_ > kMostResults || !fits) {
    lost_ = true;
    return;
  }
  Sourced reported{.test = test, .status = text_at(result, "status").value_or("no status")};
  if (reported.status.starts_with("Skip")) reported.status = "Skip";
  const auto error = read_errors(result, part);
  reported.why = error;
  if (reported.why.empty())
    if (const auto* info = find(result, "info"))
      reported.why =
          info->is_string() ? std::string{info->get_string()}
          : info->is_array() && !info->get_array().empty() && info->get_array()[0].is_string()
              ? std::string{info->get_array()[0].get_string()}
              : "";
  count(part, reported, !error.empty());
}

void Reader::read_test(const json::value& test) {
  const auto name = text_at(test, "name").value_or("a test without a name");
  const auto before = node_.failed;
  const auto* results = find(test, "results");
  if (results != nullptr && results->is_array())
    for (const auto& result : results->get_array()) read_result(name, result);
  // DCGM 4 says of the whole test what belongs to no GPU.
  const auto* summary = find(test, "test_summary");
  const auto status = summary == nullptr ? std::nullopt : text_at(*summary, "status");
  if (status == "Fail" && node_.failed == before)
    count("", {.test = name, .status = "Fail", .why = read_errors(*summary, "")}, true);
}

void Reader::read(const json::value& root) {
  const auto* categories = find(root, "test_categories");
  if (categories == nullptr || !categories->is_array()) return;
  for (const auto& category : categories->get_array()) {
    const auto* tests = find(category, "tests");
    if (tests == nullptr || !tests->is_array()) continue;
    for (const auto& test : tests->get_array()) read_test(test);
  }
}

void Reader::count_for_every_gpu() {
  for (const auto& name : gpus_.names()) {
    auto& own = parts_[name];
    if (own.skipped == 0) own.passed = node_.passed;
  }
}

Findings Reader::findings() && {
  auto& all = findings_.measurements;
  const auto add = [&](const std::string& part, const Tally& tally) {
    all.push_back({"dcgm.passed", part, tally.passed, "tests"});
    // Nothing was tried: that nothing failed says nothing.
    if (tally.passed + tally.failed + tally.warned > 0)
      all.push_back({"dcgm.failed", part, tally.failed, "tests"});
    all.push_back({"dcgm.warned", part, tally.warned, "tests"});
    all.push_back({"dcgm.skipped", part, tally.skipped, "tests"});
    for (std::size_t i = 0; i < kErrors.size(); ++i)
      all.push_back({std::string{kErrors[i]}, part, tally.errors[i], "errors"});
  };
  add("", node_);
  for (const auto& [part, tally] : parts_) add(part, tally);
  return std::move(findings_);
}

Error nothing_proven(std::string why) {
  return {Code::kNoMeasurement, "dcgmi diag: " + std::move(why)};
}

/// DCGM 4's root, or the one of DCGM 3 and before.
Result<json::value> root_of(std::string_view text) {
  for (const std::string_view key : {"DCGM Diagnostic", "DCGM GPU Diagnostic"}) {
    if (!text.contains(fmt::format("\"{}\"", key))) continue;
    TRY(auto document, json_in(text, key));
    return std::move(document.as_object()[key]);
  }
  return Error{Code::kNoMeasurement, "no report"};
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  TRY(const auto run, ToolRun::read(kStage, kTool, profile, output));
  auto root = root_of(run.output().text);
  if (!root) {
    auto error = root.error();
    error.what = fmt::format("dcgmi diag: {}: {}", error.what, script::complaint(run.output()));
    return error;
  }
  Reader reader{run.gpus()};
  reader.read(*root);
  if (run.asked("level") == 1) reader.count_for_every_gpu();
  // A fault that was found stays found, however the run ended.
  if (!reader.failed()) {
    if (const auto error = text_at(*root, "runtime_error"))
      return nothing_proven(script::clean(*error));
    if (reader.lost()) return nothing_proven("it printed results that cannot be read or kept");
    if (!reader.proves())
      return nothing_proven(reader.only_skipped() ? "all tests were skipped" : "it ran no test");
  }
  return std::move(reader).findings();
}

}  // namespace

Stage dcgm_diag() {
  return {"dcgm-diag",
          "NVIDIA's own diagnosis (dcgmi diag)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {1, 0, "its stress tests drive all GPUs to their power limit"},
          kPrograms};
}

}  // namespace cupel::burnin
