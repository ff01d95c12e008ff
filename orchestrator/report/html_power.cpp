#include "orchestrator/report/html_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "orchestrator/report/html_text.h"
#include "orchestrator/report/html_timeline.h"

namespace cupel::report {
namespace {

constexpr int kLeft = 70, kDrawn = 1230, kHigh = 170, kTop = 10;

/// Watts by the time from which they are drawn.
using Curve = std::map<engine::WallTime, double>;

/// What a stage measured of the GPUs' power, all of them together.
double gpu_watts(const burnin::Findings& findings) {
  double watts = 0;
  for (const auto& each : findings.measurements)
    if (each.name == "gpu.power" && !each.part.empty() && std::isfinite(each.value))
      watts += each.value;
  return watts;
}

double limit_of(const burnin::Findings& findings) {
  double watts = 0;
  for (const auto& each : findings.measurements)
    if (each.name == "gpu.power.limit" && !each.part.empty() && std::isfinite(each.value))
      watts += each.value;
  return watts;
}

struct Drawn {
  Curve curve{};
  double limit = 0;  // of all GPUs that were under load, as their drivers report it
};

Drawn drawn_by(const RunSummary& summary) {
  Drawn drawn;
  for (const auto& node : summary.nodes) {
    double limit = 0;
    for (const auto& step : node.record.steps) {
      const auto found = node.record.findings.find(step.name);
      if (found == node.record.findings.end() || step.ended <= step.began) continue;
      limit = std::max(limit, limit_of(found->second));
      const auto watts = gpu_watts(found->second);
      if (watts <= 0) continue;
      drawn.curve[step.began] += watts;
      drawn.curve[step.ended] -= watts;
    }
    drawn.limit += limit;
  }
  double now = 0;
  for (auto& [at, watts] : drawn.curve) watts = now += watts;
  return drawn;
}

std::string kilowatts(double watts) { return plain(watts / 1000, watts < 10'000 ? 1 : 0) + " kW"; }

/// A step of 1, 2 or 5 times a power of ten, of which some four fit.
double grid_step(double most) {
  const auto power = std::pow(10, std::floor(std::log10(most / 4)));
  for (const double times : {1, 2, 5})
    if (most / (power * times) <= 5) return power * times;
  return power * 10;
}

}  // namespace

std::string power_html(const RunSummary& summary) {
  const auto drawn = drawn_by(summary);
  if (drawn.curve.size() < 2) return {};
  const auto from = drawn.curve.begin()->first, to = drawn.curve.rbegin()->first;
  double peak = 0;
  for (const auto& [at, watts] : drawn.curve) peak = std::max(peak, watts);
  if (peak <= 0 || from >= to) return {};
  const double top = std::max(peak, drawn.limit) * 1.05;
  const auto x = [&](engine::WallTime time) {
    return kLeft + kDrawn * static_cast<double>((time - from).count()) /
                       static_cast<double>((to - from).count());
  };
  const auto y = [&](double watts) { return kTop + kHigh - kHigh * std::max(watts, 0.0) / top; };
  auto text = fmt::format(
      "<section id=power><h2>Power of the GPUs</h2><div class=wide tabindex=0 role=region "
      "aria-label=\"power of the GPUs\"><svg class=time viewBox=\"0 0 "
      "{0} {1}\" width={0} height={1} role=img aria-label=\"power of all GPUs over time, at most "
      "{2}\">",
      kLeft + kDrawn + 10, kTop + kHigh + 20, kilowatts(peak));
  const auto step = grid_step(top);
  for (double level = 0; level <= top; level += step)
    text += fmt::format(
        "<path class=grid d=\"M{} {:.1f}H{}\" /><text class=unit x={} y={:.1f} "
        "text-anchor=end>{}</text>",
        kLeft, y(level), kLeft + kDrawn, kLeft - 6, y(level) + 4, kilowatts(level));
  for (const auto at : axis_times(from, to, 10))
    text += fmt::format("<text class=unit x={:.1f} y={} text-anchor=middle>{}</text>", x(at),
                        kTop + kHigh + 15, axis_time(at, from));
  std::string path = fmt::format("M{:.1f} {:.1f}", x(from), y(0));
  for (const auto& [at, watts] : drawn.curve)
    path += fmt::format("H{:.1f}V{:.1f}", x(at), y(watts));
  text += fmt::format("<path class=drawn d=\"{}\" />", path);
  if (drawn.limit > 0)
    text += fmt::format("<path class=limit d=\"M{} {:.1f}H{}\"><title>limit {}</title></path>",
                        kLeft, y(drawn.limit), kLeft + kDrawn, kilowatts(drawn.limit));
  text += "</svg></div><p class=dim>Of each step, the power of its node's GPUs as it was measured";
  text += drawn.limit > 0
              ? fmt::format("; dashed: the power limits of these GPUs together, {}. Peak {}.",
                            kilowatts(drawn.limit), kilowatts(peak))
              : fmt::format(". Peak {}.", kilowatts(peak));
  return text + "</p></section>";
}

}  // namespace cupel::report
