#include "orchestrator/record/series_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace cupel::record {
namespace {

using burnin::Sample;
using burnin::SeriesName;
using burnin::SeriesSpan;
using burnin::TimeSeries;

constexpr std::string_view kKind = "time series";
constexpr int kFormat = 1;
constexpr std::size_t kMostNumbers = 4096;  // of one list
constexpr std::size_t kMostSeries = 4096;
constexpr std::size_t kMostFaults = 4096;
constexpr std::size_t kLongestName = 160;

std::string json_text(std::string_view text) {
  return json::serialize(json::value(valid_utf8(shortened(text, kLongestName))));
}

/// "[1,2.5]", six digits of each.
template <class Row, class Number>
std::string list(const std::vector<Row>& rows, Number Row::* member) {
  std::string text = "[";
  for (const auto& row : rows) {
    if (text.size() > 1) text += ',';
    text += fmt::format("{:.6g}", static_cast<double>(row.*member));
  }
  return text + "]";
}

/// Where every span is of equal values (a counter that stands still), one list says it.
std::string text_of(const SeriesName& name, const TimeSeries& series) {
  auto text = fmt::format(
      R"({{"part":{},"name":{},"unit":{},"width":{:.6g},"seconds":{},"samples":{})",
      json_text(name.part), json_text(name.name), json_text(name.unit), series.width,
      list(series.spans, &SeriesSpan::seconds), list(series.spans, &SeriesSpan::samples));
  const auto is_even = [](const SeriesSpan& span) { return span.least == span.most; };
  text += R"(,"mean":)" + list(series.spans, &SeriesSpan::mean);
  if (!std::ranges::all_of(series.spans, is_even)) {
    text += R"(,"least":)" + list(series.spans, &SeriesSpan::least);
    text += R"(,"most":)" + list(series.spans, &SeriesSpan::most);
  }
  if (!series.around.empty()) {
    text += R"(,"around":{"seconds":)" + list(series.around, &Sample::seconds);
    text += R"(,"value":)" + list(series.around, &Sample::value) + "}";
  }
  return text + "}";
}

Error malformed(std::string_view what) {
  return Error{Code::kMalformed, fmt::format("this is no document of time series: {}", what)};
}

Result<std::vector<float>> numbers_at(const json::value& object, std::string_view path) {
  std::vector<float> numbers;
  const auto* found = find(object, path);
  if (found == nullptr || !found->is_array()) return malformed(fmt::format("no list '{}'", path));
  if (found->get_array().size() > kMostNumbers)
    return malformed(fmt::format("'{}' is too long", path));
  for (const auto& each : found->get_array()) {
    const double number = each.is_number() ? each.to_number<double>() : std::nan("");
    if (!std::isfinite(number)) return malformed(fmt::format("'{}' holds no numbers", path));
    numbers.push_back(static_cast<float>(number));
  }
  return numbers;
}

Result<void> read_spans(const json::value& object, TimeSeries& series) {
  TRY(const auto seconds, numbers_at(object, "seconds"));
  TRY(const auto samples, numbers_at(object, "samples"));
  TRY(const auto mean, numbers_at(object, "mean"));
  auto least = mean, most = mean;
  if (find(object, "least") != nullptr) {
    TRY(least, numbers_at(object, "least"));
    TRY(most, numbers_at(object, "most"));
  }
  const auto count = seconds.size();
  for (const auto& other : {samples.size(), mean.size(), least.size(), most.size()})
    if (other != count) return malformed("lists of one series differ in length");
  for (std::size_t i = 0; i < count; ++i) {
    if (samples[i] < 1 || samples[i] > 1e9F) return malformed("a span of no samples");
    series.spans.push_back(
        {seconds[i], least[i], mean[i], most[i], static_cast<std::uint32_t>(samples[i])});
  }
  return ok();
}

Result<TimeSeries> series_at(const json::value& object) {
  TimeSeries series;
  series.width = static_cast<float>(number_at(object, "width").value_or(0));
  TRY(read_spans(object, series));
  if (find(object, "around") == nullptr) return series;
  TRY(const auto seconds, numbers_at(object, "around/seconds"));
  TRY(const auto values, numbers_at(object, "around/value"));
  if (seconds.size() != values.size()) return malformed("lists of one series differ in length");
  for (std::size_t i = 0; i < seconds.size(); ++i) series.around.push_back({seconds[i], values[i]});
  return series;
}

/// Quoted, and never a formula for whoever opens it as a table.

}  // namespace

std::string series_name(std::string_view step) { return fmt::format("series@{}", step); }

burnin::SeriesSpan whole_of(const TimeSeries& series) {
  burnin::SeriesSpan whole;
  for (const auto& span : series.spans)
    if (whole.samples == 0)
      whole = span;
    else
      burnin::merge(whole, span);
  return whole;
}

std::string to_text(const KeptSeries& kept, std::size_t most) {
  constexpr std::size_t kRest = 200;  // what stands around the lists
  std::string faults, series;
  auto left_out = kept.left_out;
  const auto add = [&](std::string& into, std::string_view between, const std::string& text) {
    if (faults.size() + series.size() + text.size() + kRest > most)
      ++left_out;
    else
      into.append(into.empty() ? between.substr(1) : between).append(text);
  };
  for (const auto& fault : kept.faults)
    add(faults, ",",
        fmt::format(R"({{"seconds":{:.6g},"what":{}}})", fault.seconds, json_text(fault.what)));
  for (const auto& [name, one] : kept.series) add(series, ",\n", text_of(name, one));
  return fmt::format(
      "{{\"kind\":\"{}\",\"format\":{},\"left_out\":{},\"faults\":[{}],\"series\":[{}]}}\n", kKind,
      kFormat, left_out, faults, series);
}

Result<KeptSeries> series_from(std::string_view text) {
  if (text.size() > kMostSeriesBytes) return malformed("it is larger than any that Cupel writes");
  TRY(const auto root, parse_json(text));
  if (text_at(root, "kind") != kKind || number_at(root, "format") != kFormat)
    return malformed("another kind, or of a newer format");
  KeptSeries kept;
  kept.left_out =
      static_cast<std::size_t>(std::clamp(number_at(root, "left_out").value_or(0), 0.0, 1e15));
  const auto* faults = find(root, "faults");
  const auto* series = find(root, "series");
  if (faults == nullptr || !faults->is_array() || series == nullptr || !series->is_array())
    return malformed("no 'faults' or no 'series'");
  if (faults->get_array().size() > kMostFaults || series->get_array().size() > kMostSeries)
    return malformed("too many faults or series");
  for (const auto& each : faults->get_array())
    kept.faults.push_back({static_cast<float>(number_at(each, "seconds").value_or(0)),
                           printable(text_at(each, "what").value_or(""))});
  for (const auto& each : series->get_array()) {
    SeriesName name{printable(text_at(each, "part").value_or("")),
                    printable(text_at(each, "name").value_or("")),
                    printable(text_at(each, "unit").value_or(""))};
    TRY(kept.series[std::move(name)], series_at(each));
  }
  return kept;
}

Result<std::map<std::string, KeptSeries>> series_of(const store::Store& store,
                                                    const NodeRecord& record) {
  std::map<std::string, KeptSeries> all;
  for (const auto& step : record.steps) {
    const auto found = record.evidence.find(series_name(step.name));
    if (found == record.evidence.end()) continue;
    TRY(const auto text, store.evidence(found->second));
    TRY(all[step.name], series_from(text));
  }
  return all;
}

std::string series_csv(const std::map<std::string, KeptSeries>& series) {
  std::string text = "stage,part,name,unit,seconds,least,mean,most,samples\n";
  for (const auto& [stage, kept] : series)
    for (const auto& [name, one] : kept.series) {
      const auto head = fmt::format("{},{},{},{}", csv_cell(stage), csv_cell(name.part),
                                    csv_cell(name.name), csv_cell(name.unit));
      for (const auto& span : one.spans)
        text += fmt::format("{},{:.6g},{:.6g},{:.6g},{:.6g},{}\n", head, span.seconds, span.least,
                            span.mean, span.most, span.samples);
      for (const auto& sample : one.around)
        text += fmt::format("{},{:.6g},{:.6g},{:.6g},{:.6g},0\n", head, sample.seconds,
                            sample.value, sample.value, sample.value);
    }
  return text;
}

}  // namespace cupel::record
