#pragma once
// Parts that are slow now and then: an HCA that throttles, a cable that retrains. One fast flow
// clears nothing of them; they dip in more readings than the fleet does. Pure.
#include <vector>

#include "burnin/fabric/readings.h"

namespace cupel::burnin::fabric {

class Dips {
 public:
  /// `explained`: flows that parts which are always slow explain. `known_routes`: of those alone
  /// all of whose parts are known; else of all.
  Dips(const Readings& readings, const std::vector<bool>& explained, bool known_routes);

  /// Of each part, in nats.
  const std::vector<float>& scores() const { return scores_; }
  /// The part's flows are explained from now on.
  void explain(PartId part);

  struct Count {
    int dips = 0, readings = 0;
    double level = 1;  // of the readings that dipped
  };
  Count of(PartId part) const;
  /// Flows that dip over the one that do not cross the other: none.
  bool covers(PartId one, PartId other) const;

 private:
  bool speaks(FlowId id) const { return speaks_[id]; }
  struct Sum {
    double dips = 0, readings = 0;
  };
  double rate_without(const Sum& part) const;
  double score_of(FlowId id, double rate) const;
  void score();

  const Readings& readings_;
  std::vector<int> dips_;  // of each flow
  std::vector<bool> speaks_;
  double dips_of_all_ = 0, readings_of_all_ = 0;  // of the flows that speak, at first
  std::vector<float> scores_;
};

}  // namespace cupel::burnin::fabric
