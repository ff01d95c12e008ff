#pragma once
// Figures that grow from round to round: samples by name, part and labels, from many threads. What
// was measured is reported at once, and again with each round; the last line of a figure counts.
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "burnin/agent/burn/report.h"

namespace cupel::burn {

class Figures {
 public:
  explicit Figures(Report& report) : report_{report} {}

  /// Adds these to what is known of the figure, and tells it.
  void add(const std::string& name, const std::string& part, const Samples& samples,
           std::string_view unit, const Labels& labels) {
    const std::scoped_lock lock{mutex_};
    auto& all = samples_[{name, part, labels}];
    for (const double value : samples.kept()) all.add(value);
    report_.result(name, part, all, unit, labels);
  }

  /// Adds to a count, such as of wrong words, and tells the sum.
  void count(const std::string& name, const std::string& part, double more, std::string_view unit) {
    const std::scoped_lock lock{mutex_};
    auto& sum = counts_[{name, part}];
    sum += more;
    report_.result(name, part, sum, unit);
  }

 private:
  Report& report_;
  std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, Labels>, Samples> samples_;
  std::map<std::tuple<std::string, std::string>, double> counts_;
};

}  // namespace cupel::burn
