#include "burnin/agent_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/text.h"
#include "burnin/measures/measure.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kProgram = "cupel-node";
constexpr double kLinesProtocol = 1;
constexpr std::size_t kMostLines = 50'000;  // a psu of a week's patience prints 20,000

class AgentReader {
 public:
  AgentReader(std::string_view stage, std::span<const std::string_view> measures)
      : stage_{stage}, measures_{measures} {}

  /// A line of its own: whatever is no object of a known kind is none of ours, and a companion's
  /// is its own.
  void read(std::string_view line) {
    if (!line.starts_with('{')) return;
    const auto value = parse_json(line);
    if (!value || find(*value, "of") != nullptr) return;
    const auto kind = text_at(*value, "kind").value_or("");
    if (kind == "stage") {
      begun = begun || (text_at(*value, "stage") == stage_ &&
                        number_at(*value, "protocol") == kLinesProtocol);
    } else if (begun && !ended) {
      read_kind(kind, *value);
    }
  }

  /// What was printed by tools that had not ended when the output was cut.
  void end() {
    for (auto& [name, text] : pieces_)
      output.tools.push_back({name, "", std::move(text), "", -1, true});
    output.whole = ended;
  }

  bool begun = false, ended = false;
  std::string gave_up{};
  AgentOutput output{};

 private:
  void read_kind(const std::string& kind, const json::value& line) {
    if (kind == "asked") take_asked(line);
    if (kind == "measured") take_measured(line);
    if (kind == "unmeasured") take_unmeasured(line);
    if (kind == "piece") pieces_[word(line, "name")] += raw(line, "out");
    if (kind == "evidence") take_evidence(line);
    if (kind == "note") output.notes.try_emplace(word(line, "name"), word(line, "text"));
    if (kind == "setting")
      output.settings.push_back({word(line, "did"), word(line, "key"), word(line, "part"),
                                 word(line, "before"), word(line, "wanted"), word(line, "is"),
                                 word(line, "why")});
    if (kind == "facts" && !output.facts) output.facts = line;
    if (kind == "gave-up") gave_up = word(line, "why", "cupel-node gave up without a reason");
    if (kind == "done") ended = true;
  }

  static std::string word(const json::value& line, std::string_view key,
                          std::string_view otherwise = {}) {
    return script::clean(text_at(line, key).value_or(std::string{otherwise}));
  }

  static std::optional<double> value_of(const json::value& line) {
    const auto value = number_at(line, "value");
    return value && std::isfinite(*value) ? value : std::nullopt;
  }

  void take_asked(const json::value& line) {
    if (const auto value = value_of(line)) output.asked.try_emplace(word(line, "name"), *value);
  }

  /// The first of a name and a part counts: a second one would let the order of lines decide.
  void take_measured(const json::value& line) {
    const auto name = word(line, "name"), part = word(line, "part");
    const auto value = value_of(line);
    const auto* row = measure_row(name);
    const bool known = std::ranges::find(measures_, name) != measures_.end();
    if (!known || row == nullptr || !value || !seen_.emplace(name, part).second) return;
    output.measured.push_back({name, part, *value, std::string{row->unit}});
  }

  void take_unmeasured(const json::value& line) {
    output.unmeasured.push_back({word(line, "name"), word(line, "part"), word(line, "why")});
  }

  /// As it is, blanks included.
  static std::string raw(const json::value& line, std::string_view key) {
    const auto* text = find(line, key);
    return text == nullptr || !text->is_string() ? std::string{} : std::string{text->get_string()};
  }

  void take_evidence(const json::value& line) {
    const auto* out = find(line, "out");
    if (out == nullptr || !out->is_string()) return;
    const auto status = number_at(line, "status").value_or(-1);
    ToolOutput tool{word(line, "name"),
                    word(line, "part"),
                    raw(line, "out"),
                    raw(line, "err"),
                    status >= 0 && status < 256 ? static_cast<int>(status) : -1,
                    flag_at(line, "cut").value_or(true)};
    if (auto pieces = pieces_.extract(tool.name)) tool.out.insert(0, pieces.mapped());
    output.tools.push_back(std::move(tool));
  }

  std::string_view stage_;
  std::span<const std::string_view> measures_;
  std::set<std::pair<std::string, std::string>> seen_{};
  std::map<std::string, std::string, std::less<>> pieces_{};  // by the tool's name
};

struct ReadSoFar {
  std::optional<AgentOutput> output{};
  bool has_too_many_lines = false;
};

Result<ReadSoFar> read_lines(std::string_view stage, const Output& output,
                             std::span<const std::string_view> measures) {
  TRY(script::check_gave_up(output));
  AgentReader reader{stage, measures};
  std::size_t count = 0;
  // A last line without an end may still be under way.
  for (auto rest = std::string_view{output.text}; count < kMostLines; ++count) {
    const auto end = rest.find('\n');
    if (end == rest.npos) break;
    reader.read(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  if (!reader.begun) return ReadSoFar{};
  if (!reader.gave_up.empty()) return Error{Code::kNoMeasurement, reader.gave_up};
  reader.end();
  return ReadSoFar{std::move(reader.output), count == kMostLines};
}

}  // namespace

Job agent_job(AgentOrder order, std::chrono::seconds expected, std::chrono::seconds limit) {
  auto script = script::head() + script::needs(kProgram) +
                fmt::format("printf '%s\\n' {} | cupel-node stage {}\n",
                            shell_quoted(json::serialize(order.order)), order.stage);
  return Job{
      std::move(script),      expected, limit, std::move(order.tools), std::move(order.helpful),
      std::move(order.folder)};
}

Job agent_job(AgentWork work) {
  return agent_job(std::move(work.order), work.expected, work.limit);
}

std::optional<double> AgentOutput::amount(std::string_view name) const {
  const auto found = asked.find(name);
  return found == asked.end() ? std::nullopt : std::optional{found->second};
}

const ToolOutput* AgentOutput::tool(std::string_view name) const {
  const auto found = std::ranges::find(tools, name, &ToolOutput::name);
  return found == tools.end() ? nullptr : &*found;
}

const ToolOutput* AgentOutput::tool(std::string_view name, std::string_view part) const {
  const auto found = std::ranges::find_if(
      tools, [&](const ToolOutput& each) { return each.name == name && each.part == part; });
  return found == tools.end() ? nullptr : &*found;
}

std::string AgentOutput::text_of(std::string_view name) const {
  std::string text;
  for (const auto& each : tools)
    if (each.name == name) text += each.out;
  return text;
}

Result<std::optional<AgentOutput>> read_agent_so_far(std::string_view stage, const Output& output,
                                                     std::span<const std::string_view> measures) {
  TRY(auto read, read_lines(stage, output, measures));
  return std::move(read.output);
}

Result<std::optional<AgentOutput>> read_agent_output(std::string_view stage, const Output& output,
                                                     std::span<const std::string_view> measures) {
  TRY(auto read, read_lines(stage, output, measures));
  if (read.output && !read.output->whole)
    return Error{
        Code::kNoMeasurement,
        fmt::format("the output of cupel-node stage {} has no end: {}", stage,
                    read.has_too_many_lines ? fmt::format("it has more than {} lines", kMostLines)
                                            : "it was cut")};
  return std::move(read.output);
}

std::optional<CompanionLine> companion_line(std::string_view line) {
  constexpr std::string_view kOf = R"(,"of":")", kEnd = R"("})";
  if (!line.starts_with('{') || !line.ends_with(kEnd)) return std::nullopt;
  const auto at = line.rfind(kOf);
  if (at == line.npos) return std::nullopt;
  const auto name = line.substr(at + kOf.size(), line.size() - at - kOf.size() - kEnd.size());
  const bool is_name =
      !name.empty() && std::ranges::all_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
  if (!is_name) return std::nullopt;
  return CompanionLine{name, std::string{line.substr(0, at)} + "}"};
}

std::optional<std::string> gave_up_in(const Output& output) {
  constexpr std::string_view kBegins = R"({"kind":"gave-up",)";
  for (const auto line : lines(output.text)) {
    if (!line.starts_with(kBegins)) continue;
    const auto value = parse_json(line);
    if (value) return script::clean(text_at(*value, "why").value_or("cupel-node gave up"));
  }
  return std::nullopt;
}

Output printed_by(const ToolOutput& tool) {
  const bool open = !tool.errors.empty() && !tool.errors.ends_with('\n');
  return {tool.errors + (open ? "\n" : "") + tool.out, "", tool.status};
}

std::optional<std::string> phase_in(std::string_view line) {
  constexpr std::string_view kMark = "cupel-phase: ", kBegins = R"({"kind":"phase",)";
  std::optional<std::string> name;
  if (line.starts_with(kMark)) {
    const auto stage_words = words(line.substr(kMark.size()));
    if (!stage_words.empty()) name = std::string{stage_words.front()};
  } else if (line.starts_with(kBegins)) {
    const auto value = parse_json(line);
    if (value) name = text_at(*value, "name");
  }
  return name ? std::optional{script::clean(*name)} : std::nullopt;
}

std::string complaint_of(const ToolOutput& tool) {
  return script::complaint(Output{tool.out, tool.errors, tool.status});
}

}  // namespace cupel::burnin
