#include "orchestrator/report/part_telemetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

using burnin::SeriesName;
using burnin::TimeSeries;
using Curve = PartTelemetry::Curve;
using Point = PartTelemetry::Point;

constexpr std::size_t kMostCurves = 4, kMostMarks = 12;
constexpr std::size_t kStagesOfAPart = 2;
constexpr double kWide = 300, kHigh = 78, kBottom = 74, kDrawn = 70;

/// What tells most of a GPU comes first; anything else follows by its name.
int rank_of(std::string_view name) {
  constexpr std::string_view kFirst[] = {"gpu.power", "gpu.temperature", "gpu.clock.sm",
                                         "gpu.temperature.memory"};
  const auto found = std::ranges::find(kFirst, name);
  return static_cast<int>(found - std::begin(kFirst));
}

/// "gpu" of "gpu3", "fan" of "fan12".
std::string_view kind_of(std::string_view part) {
  const auto digit = part.find_first_of("0123456789");
  return part.substr(0, std::min(digit, part.size()));
}

/// The most of each span, so that no peak is lost.
std::vector<Point> peaks(const TimeSeries& series) {
  std::vector<Point> points;
  for (const auto& span : series.spans) points.push_back({span.seconds, span.most});
  return points;
}

/// The others of its kind, by the beginnings of their spans.
void add_band(const TimeSeries& series, std::map<float, std::pair<float, float>>& band) {
  for (const auto& span : series.spans) {
    const auto [at, fresh] = band.try_emplace(span.seconds, span.least, span.most);
    if (fresh) continue;
    at->second.first = std::min(at->second.first, span.least);
    at->second.second = std::max(at->second.second, span.most);
  }
}

Curve curve_of(const record::KeptSeries& kept, const SeriesName& name, const TimeSeries& own) {
  Curve curve{.name = name.name, .unit = name.unit, .own = peaks(own)};
  std::map<float, std::pair<float, float>> band;
  for (const auto& [other, series] : kept.series)
    if (other.name == name.name && other.part != name.part &&
        kind_of(other.part) == kind_of(name.part))
      add_band(series, band);
  for (const auto& [seconds, values] : band) {
    curve.least.push_back({seconds, values.first});
    curve.most.push_back({seconds, values.second});
  }
  return curve;
}

bool is_reported_of(const burnin::SeriesFault& fault, const std::string& part) {
  return fault.what.starts_with(part + ":");
}

/// The stages whose series are looked at, those that saw the cause first.
std::vector<std::string> stages_of(const record::NodeRecord& record, const burnin::Cause& cause) {
  std::vector<std::string> stages;
  for (const auto& stage : cause.stages)
    if (record.evidence.contains(record::series_name(stage))) stages.push_back(stage);
  for (const auto& step : record.steps)
    if (record.evidence.contains(record::series_name(step.name)) &&
        std::ranges::find(stages, step.name) == stages.end())
      stages.push_back(step.name);
  return stages;
}

struct Drawing {
  double span = 1, top = 1;  // seconds, value
  double x(float seconds) const { return kWide * seconds / span; }
  double y(float value) const { return kBottom - kDrawn * std::max(value, 0.0F) / top; }
};

std::string path(const std::vector<Point>& points, const Drawing& in, char first) {
  std::string text;
  for (const auto& point : points)
    text += fmt::format("{}{:.1f} {:.1f}", text.empty() ? first : 'L', in.x(point.seconds),
                        in.y(point.value));
  return text;
}

std::string drawn(const Curve& curve, const PartTelemetry& of) {
  Drawing in;
  double most = 0;
  for (const auto* points : {&curve.own, &curve.most})
    for (const auto& point : *points) {
      in.top = std::max(in.top, double{point.value});
      in.span = std::max(in.span, double{point.seconds});
    }
  for (const auto& point : curve.own) most = std::max(most, double{point.value});
  const auto title = escaped(curve.name);
  auto text = fmt::format(
      "<figure><figcaption>{}: at most {} {}</figcaption><svg class=tele viewBox=\"0 0 {} {}\" "
      "role=img aria-label=\"{}\">",
      title, plain(most, 0), escaped(curve.unit), kWide, kHigh, title);
  if (!curve.least.empty()) {
    auto back = curve.least;
    std::ranges::reverse(back);
    text += fmt::format("<path class=band d=\"{}{}Z\" />", path(curve.most, in, 'M'),
                        path(back, in, 'L'));
  }
  for (const auto& fault : of.faults)
    if (double{fault.seconds} <= in.span)
      text += fmt::format("<path class=mark d=\"M{:.1f} 0V{}\"><title>{}</title></path>",
                          in.x(fault.seconds), kBottom, escaped(fault.what));
  return text + fmt::format("<path class=own d=\"{}\" /></svg></figure>", path(curve.own, in, 'M'));
}

}  // namespace

PartTelemetry telemetry_of(const record::KeptSeries& kept, const std::string& part) {
  PartTelemetry found{.part = part};
  std::vector<std::pair<const SeriesName*, const TimeSeries*>> own;
  for (const auto& [name, series] : kept.series)
    if (name.part == part && series.spans.size() > 1) own.emplace_back(&name, &series);
  std::ranges::stable_sort(own, {}, [](const auto& each) { return rank_of(each.first->name); });
  if (own.size() > kMostCurves) own.resize(kMostCurves);
  for (const auto& [name, series] : own) found.curves.push_back(curve_of(kept, *name, *series));
  for (const auto& fault : kept.faults)
    if (is_reported_of(fault, part) && found.faults.size() < kMostMarks)
      found.faults.push_back(fault);
  return found;
}

void add_telemetry(const store::Store& store, RunSummary& summary) {
  std::size_t count = 0;
  for (auto& node : summary.nodes) {
    std::set<std::string> seen;
    for (const auto& cause : node.causes) {
      if (cause.part.empty() || !cause.consequence_of.empty()) continue;
      if (!seen.insert(cause.part).second) continue;
      std::size_t of_part = 0;
      for (const auto& stage : stages_of(node.record, cause)) {
        if (of_part == kStagesOfAPart || count == kMostTelemetry) break;
        const auto text = store.evidence(node.record.evidence.at(record::series_name(stage)));
        const auto kept = text ? record::series_from(*text) : text.error();
        if (!kept) continue;
        auto found = telemetry_of(*kept, cause.part);
        if (found.curves.empty()) continue;
        found.stage = stage;
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
    for (const auto& curve : each.curves) text += drawn(curve, each);
    text += "</div>";
  }
  if (text.empty()) return text;
  return "<h3>Telemetry of what failed</h3>" + text +
         "<p class=dim>The line is the part, the band is the others of its kind in the node; a "
         "dashed line is a fault that was seen then. All samples: <code>cupel show " +
         escaped(node.record.node) + " --series --csv</code></p>";
}

}  // namespace cupel::report
