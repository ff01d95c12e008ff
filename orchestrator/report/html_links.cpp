#include "orchestrator/report/html_links.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "orchestrator/report/html_text.h"

namespace cupel::report {
namespace {

using burnin::LinkEvent;

constexpr std::size_t kMostEvents = 1000;

bool is_switch(const burnin::PortId& port) { return port.hca.empty(); }

}  // namespace

void add_links(RunSummary& summary, std::span<const LinkEvent> recorded) {
  std::set<std::string_view> nodes;
  for (const auto& node : summary.nodes) nodes.insert(node.record.node);
  const auto last = summary.run.ended == engine::WallTime{}
                        ? std::chrono::system_clock::now()
                        : std::chrono::system_clock::time_point{summary.run.ended};
  for (const auto& event : recorded) {
    const bool ours = nodes.contains(event.here.device) || nodes.contains(event.there.device) ||
                      (is_switch(event.here) && is_switch(event.there));
    if (ours && event.at <= last && event.at >= last - burnin::kRepairCounts)
      summary.links.push_back(event);
  }
  std::ranges::stable_sort(summary.links, {}, &LinkEvent::at);
  if (summary.links.size() > kMostEvents)
    summary.links.erase(summary.links.begin(),
                        summary.links.end() - static_cast<std::ptrdiff_t>(kMostEvents));
}

std::string links_html(const RunSummary& summary) {
  if (summary.links.empty()) return {};
  auto text = "<section id=links><h2>Links</h2>" +
              table_begin({{"UTC", 14}, {"Link", 32}, {"By", 12}, {"What", 42}});
  for (const auto& event : summary.links)
    text +=
        fmt::format("<tr><td>{:%F %H:%M}<td>{}<td>{}<td>{}</tr>", event.at,
                    escaped(to_string(burnin::LookedLink{.from = event.here, .to = event.there})),
                    escaped(event.by), escaped(burnin::what_text(event)));
  return text.append(kTableEnd) + "</section>";
}

}  // namespace cupel::report
