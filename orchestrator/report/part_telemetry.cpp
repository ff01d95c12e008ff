#include "orchestrator/report/part_telemetry.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

using Series = PartTelemetry::Series;

constexpr std::size_t kMostPoints = 120;
constexpr std::size_t kMostLines = 200'000;
constexpr std::size_t kStagesOfAPart = 2;
constexpr std::string_view kBegin = "\ncupel-section: samples\n";
constexpr std::string_view kOutput = "# standard output";

std::optional<double> number_in(std::string_view text) {
  const auto words = trimmed(text);
  double value = 0;
  const auto read = std::from_chars(words.data(), words.data() + words.size(), value);
  const bool whole = read.ec == std::errc{} && read.ptr == words.data() + words.size();
  if (!whole || !std::isfinite(value) || value < 0 || value > 100'000) return std::nullopt;
  return value;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t from = 0; from <= line.size() && fields.size() < 16;) {
    const auto comma = std::min(line.find(',', from), line.size());
    fields.push_back(trimmed(line.substr(from, comma - from)));
    from = comma + 1;
  }
  return fields;
}

/// The address of the GPU, as the node's tools reported it.
std::string address_of(const record::NodeRecord& record, const std::string& name) {
  for (const auto& [stage, findings] : record.findings)
    for (const auto& part : findings.parts)
      if (part.kind == inventory::PartKind::gpu && part.name == name &&
          part.slot.find(':') != std::string::npos)
        return part.slot;
  return {};
}

/// The greatest of each span, so that no peak is lost.
std::vector<double> thinned(const std::vector<double>& values) {
  if (values.size() <= kMostPoints) return values;
  std::vector<double> fewer(kMostPoints, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto& into = fewer[i * kMostPoints / values.size()];
    into = std::max(into, values[i]);
  }
  return fewer;
}

struct Samples {
  std::array<std::vector<double>, 3> own{};                        // W, C, MHz
  std::array<std::vector<std::pair<double, double>>, 3> others{};  // least and most of one sample
};

constexpr std::array<std::size_t, 3> kFields{4, 1, 6};

Samples samples_of(std::string_view lines, const std::string& address) {
  Samples samples;
  std::size_t count = 0;
  while (!lines.empty() && count++ < kMostLines) {
    const auto end = std::min(lines.find('\n'), lines.size());
    const auto line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.starts_with("cupel-")) break;
    const auto fields = fields_of(line);
    if (fields.size() < 7) continue;
    const bool own = inventory::same_pci(fields[0], address);
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      const auto value = number_in(fields[kFields[i]]);
      if (!value) continue;
      if (own) {
        samples.own[i].push_back(*value);
        continue;
      }
      // Others' samples come beside the own one: of the same round, by their count.
      auto& others = samples.others[i];
      const auto round = samples.own[i].size();
      if (others.size() <= round) others.resize(round + 1, {*value, *value});
      others[round].first = std::min(others[round].first, *value);
      others[round].second = std::max(others[round].second, *value);
    }
  }
  return samples;
}

std::string points(const std::vector<double>& values, double top, std::string_view first) {
  std::string path;
  for (std::size_t i = 0; i < values.size(); ++i)
    path += fmt::format("{}{:.0f} {:.1f}", path.empty() ? first : "L",
                        300.0 * static_cast<double>(i) /
                            static_cast<double>(std::max<std::size_t>(values.size() - 1, 1)),
                        74 - 70 * values[i] / top);
  return path;
}

std::string curve(const Series& series, std::string_view title) {
  double top = 1;
  for (const auto* each : {&series.own, &series.most})
    if (!each->empty()) top = std::max(top, std::ranges::max(*each));
  auto text = fmt::format(
      "<figure><figcaption>{}: at most {} {}</figcaption><svg class=tele viewBox=\"0 0 300 78\" "
      "role=img aria-label=\"{}\">",
      title, plain(std::ranges::max(series.own), 0), series.unit, title);
  if (!series.least.empty()) {
    auto back = series.least;
    auto band = points(series.most, top, "M");
    std::string under;
    for (std::size_t i = back.size(); i-- > 0;)
      under += fmt::format("L{:.0f} {:.1f}",
                           300.0 * static_cast<double>(i) /
                               static_cast<double>(std::max<std::size_t>(back.size() - 1, 1)),
                           74 - 70 * back[i] / top);
    text += fmt::format("<path class=band d=\"{}{}Z\" />", band, under);
  }
  return text +
         fmt::format("<path class=own d=\"{}\" /></svg></figure>", points(series.own, top, "M"));
}

}  // namespace

PartTelemetry telemetry_of(std::string_view output, const record::NodeRecord& record,
                           const std::string& part) {
  PartTelemetry found{.part = part};
  const auto address = address_of(record, part);
  const auto begin = output.find(kBegin, std::min(output.find(kOutput), output.size()));
  if (address.empty() || begin == output.npos) return {};
  const auto samples = samples_of(output.substr(begin + kBegin.size()), address);
  if (samples.own[0].size() < 2) return {};
  const std::array<std::pair<std::string_view, Series*>, 3> into{
      {{"W", &found.power}, {"C", &found.temperature}, {"MHz", &found.clock}}};
  for (std::size_t i = 0; i < into.size(); ++i) {
    auto& series = *into[i].second;
    series.unit = into[i].first;
    std::vector<double> least, most;
    for (const auto& [low, high] : samples.others[i]) {
      least.push_back(low);
      most.push_back(high);
    }
    series.own = thinned(samples.own[i]);
    series.least = thinned(least);
    series.most = thinned(most);
  }
  return found;
}

void add_telemetry(const store::Store& store, RunSummary& summary) {
  std::size_t count = 0;
  for (auto& node : summary.nodes) {
    std::set<std::string> seen;
    for (const auto& cause : node.causes) {
      if (!cause.part.starts_with("gpu") || !cause.consequence_of.empty()) continue;
      if (!seen.insert(cause.part).second) continue;
      std::size_t of_part = 0;
      for (const auto& step : node.record.steps) {
        const auto evidence = node.record.evidence.find(step.name);
        const bool burned =
            node.record.findings.contains(step.name) && evidence != node.record.evidence.end();
        if (!burned || of_part == kStagesOfAPart || count == kMostTelemetry) continue;
        const auto output = store.evidence(evidence->second);
        if (!output) continue;
        auto found = telemetry_of(*output, node.record, cause.part);
        if (found.power.own.empty()) continue;
        found.stage = step.name;
        node.telemetry.push_back(std::move(found));
        ++of_part;
        ++count;
      }
    }
  }
}

std::string telemetry_html(const NodeSummary& node) {
  std::string text;
  for (const auto& each : node.telemetry) {
    text += fmt::format("<h3>{} during {}</h3><div class=teles>", escaped(each.part),
                        escaped(each.stage));
    text += curve(each.power, "Power") + curve(each.temperature, "Temperature") +
            curve(each.clock, "SM clock") + "</div>";
  }
  if (text.empty()) return text;
  return "<h3>Telemetry of what failed</h3>" + text +
         "<p class=dim>The line is the part, the band is the other GPUs of the node.</p>";
}

}  // namespace cupel::report
