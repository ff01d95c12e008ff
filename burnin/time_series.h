#pragma once
// What a stage's samples become in the record: the least, mean and most of each span of time, and
// each single sample around a fault. Bounded however long the stage lasts and whatever a node
// sends. Pure.
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cupel::burnin {

struct SeriesName {
  std::string part{};  // "gpu3"; empty: the node as a whole
  std::string name{};  // "gpu.power"
  std::string unit{};  // "W"
  friend auto operator<=>(const SeriesName&, const SeriesName&) = default;
};

struct Sample {
  float seconds = 0;  // since the stage began
  float value = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

struct SeriesSpan {
  float seconds = 0;  // its beginning
  float least = 0, mean = 0, most = 0;
  std::uint32_t samples = 0;
  friend bool operator==(const SeriesSpan&, const SeriesSpan&) = default;
};

/// Two spans as one, which begins where `into` does.
void merge(SeriesSpan& into, const SeriesSpan& later);

struct TimeSeries {
  float width = 0;  // of each span, in seconds
  std::vector<SeriesSpan> spans{};
  std::vector<Sample> around{};  // of faults
  friend bool operator==(const TimeSeries&, const TimeSeries&) = default;
};

struct SeriesFault {
  float seconds = 0;
  std::string what{};  // "gpu3: xid 94"
  friend bool operator==(const SeriesFault&, const SeriesFault&) = default;
};

struct SeriesLimits {
  std::size_t series = 512;
  std::size_t spans = 200;   // of one series
  std::size_t around = 305;  // samples of one series around faults: five minutes, one a second
  std::size_t faults = 64;
  float reach = 30;   // seconds before a fault, and after it, of which each sample is kept
  float finest = 10;  // seconds of a span: they double whenever there would be too many
};

/// All series of one stage of one node, taken sample by sample.
class SeriesRecorder {
 public:
  explicit SeriesRecorder(SeriesLimits limits = {}) : limits_{limits} {}

  /// In the order of time. What is no finite number, older than the sample before, or later than 30
  /// days is left out, and so is what would be one series too many.
  void add(const SeriesName& name, double seconds, double value);
  /// Samples around this time are kept one by one, of all series. Not older than the last sample.
  void fault(double seconds, std::string what);

  bool empty() const { return series_.empty(); }
  const std::vector<SeriesFault>& faults() const { return faults_; }
  std::map<SeriesName, TimeSeries> all() const;
  /// Series that were one too many.
  std::size_t left_out() const { return left_out_; }

 private:
  struct Recorded {
    TimeSeries series{};
    std::vector<Sample> recent{};  // not kept yet: a fault may follow
  };
  void add_to_spans(TimeSeries& series, Sample sample) const;
  void add_around(Recorded& recorded, Sample sample) const;
  void keep(Recorded& recorded, Sample sample) const;

  SeriesLimits limits_;
  std::map<SeriesName, Recorded> series_{};
  std::vector<SeriesFault> faults_{};
  float keep_until_ = -1;
  std::size_t left_out_ = 0;
};

}  // namespace cupel::burnin
