#pragma once
// The time series of a stage as they are kept beside the record: one JSON document, evidence like
// any other, named by its SHA-256 in the event that ended the stage.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "burnin/time_series.h"
#include "orchestrator/record/node_record.h"

namespace cupel::record {

/// Bytes of one document, and of all of one node's in a run (steps/stage_output.cpp), whatever the
/// node sends: series for which there is no room are left out, and counted. With `least`, `mean`
/// and `most` of each span; six digits of a number.
inline constexpr std::size_t kMostSeriesBytes = 1'900'000;

/// What a stage's series are called among a node's evidence: "series@watch".
std::string series_name(std::string_view step);

struct KeptSeries {
  std::vector<burnin::SeriesFault> faults{};
  std::map<burnin::SeriesName, burnin::TimeSeries> series{};
  std::size_t left_out = 0;  // numbers or series for which there was no room
  friend bool operator==(const KeptSeries&, const KeptSeries&) = default;
};

/// One span of all of them.
burnin::SeriesSpan whole_of(const burnin::TimeSeries& series);

/// `most`: bytes of it.
std::string to_text(const KeptSeries& kept, std::size_t most = kMostSeriesBytes);
/// Errors: kMalformed; also of a document that is larger than any of ours.
Result<KeptSeries> series_from(std::string_view text);

/// Of each stage of the node that has some. Errors: kStorage; kNotFound where a document is gone;
/// kMalformed where it has another hash.
Result<std::map<std::string, KeptSeries>> series_of(const store::Store& store,
                                                    const NodeRecord& record);

/// As rows of "stage,part,name,unit,seconds,least,mean,most,samples"; "samples" is 0 in the rows of
/// single samples around a fault. With a line of titles.
std::string series_csv(const std::map<std::string, KeptSeries>& series);

}  // namespace cupel::record
