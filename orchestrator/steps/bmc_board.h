#pragma once
// What one run's steps have read of BMCs and nodes and may ask each other for, instead of looking
// it up in the journal or asking once more. Lost with the process: what is not here is looked up
// there.
#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "orchestrator/steps/sensor_series.h"

namespace cupel::steps {

struct BmcBoard {
  /// Of one node. A mark is here only if the journal has it too.
  struct Log {
    std::optional<std::string> mark{};          // of its newest reading; empty: it was never read
    std::optional<boost::json::array> parts{};  // what the BMC calls them
  };
  /// The kernel's log of one node.
  struct Kernel {
    std::optional<std::string> mark{};  // "BOOT:SEQUENCE"; empty: it was never read
    std::string first{};                // the document that first said where it stood
    std::string program{};              // the node's cupel-node
  };
  struct Inlet {
    double celsius = 0;
    std::chrono::steady_clock::time_point when{};
  };

  std::map<std::string, Log, std::less<>> logs{};
  std::map<std::string, Kernel, std::less<>> kernels{};
  std::map<std::string, Inlet, std::less<>> inlets{};
  std::map<std::string, SensorSeries, std::less<>> sensors{};      // of nodes whose stage runs
  std::map<std::string, std::size_t, std::less<>> series_bytes{};  // time series in the store
};

}  // namespace cupel::steps
