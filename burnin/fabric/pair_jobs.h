#pragma once
// The flows of a round as orders for cupel-node, one for each node, and what perftest printed there
// as readings.
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "burnin/fabric/topology.h"
#include "burnin/job.h"

namespace cupel::burnin::fabric {

inline constexpr std::string_view kPairStage = "fabric-pairs";

struct Perftest {
  std::string program = "ib_write_bw";
  std::chrono::seconds duration{10};
  int port = 18515;         // of rail 0; rail k listens on the k-th after it
  bool gpu_memory = false;  // of GPU k on rail k; else nothing runs
  int queue_pairs = 1;      // of each flow: a hash over connections spreads several over uplinks
  bool latency = false;     // of 2000 small messages, in place of a duration
  std::optional<int> gid{}, tclass{};  // of RoCE; nothing: as perftest chooses
};

/// A node as perftest sees it.
struct PairNode {
  std::string address;              // where its servers listen for clients
  std::vector<std::string> hcas{};  // rail by rail; empty: no link
};

/// Port counters of a switch that a node reads by one of its HCAs before its flows begin, and once
/// all have ended.
struct CounterQuery {
  int rail = 0;  // of the flow that they are read for
  std::string hca{};
  int lid = 0;
  std::vector<int> ports{};
};

/// The order of one node: a server for each flow that comes, a client for each that goes. A client
/// tries until the other node's server listens. Empty where no flow is the node's.
json::object pair_order(const Perftest& perftest, std::span<const PairNode> nodes, int node,
                        std::span<const Flow> flows, std::span<const CounterQuery> queries = {});
/// The same, of a node that lists the switches which these HCAs reach.
json::object switches_order(std::span<const std::string> hcas);

/// What starts cupel-node with such an order.
std::string pair_script(json::object order);

/// How long flows take at most.
std::chrono::seconds pair_limit(const Perftest& perftest);

/// What cupel-node sent, as the shell script of an earlier version printed it; of such a script's
/// job as it is. Errors: as read_agent_output().
Result<Output> pair_report(const Output& output);

/// In Gb/s, of the flow that this node sent on that rail; nothing where none was measured. This and
/// what follows reads a pair_report().
std::optional<double> reading_of(const Output& output, int rail);

/// In microseconds, the typical one, of the flow that this node sent on that rail.
std::optional<double> latency_of(const Output& output, int rail);

/// Packets that the HCA of this rail sent again while the node's script ran: NAKs for a packet out
/// of order, and acknowledgements that did not come in time. Nothing where its driver does not
/// count them, or a counter went backwards. Source: NVIDIA, "Understanding mlx5 Linux Counters and
/// Status Parameters", packet_seq_err, local_ack_timeout_err, implied_nak_seq_err.
std::optional<std::uint64_t> retransmits_of(const Output& output, std::string_view hca);

/// By which way perftest came to GPU memory on a node, or why it did not, and nothing ran: for
/// records; empty: it was not asked for, or the node did not say.
std::string memory_of(const Output& output);
/// Whether that is of a node where nothing ran.
bool is_no_memory(std::string_view memory);

/// What kept perftest from measuring a flow at all: no connection between the two programs, a port
/// that is in use, memory that it did not get.
struct ToolError {
  bool of_receiver = false;  // else of the sender
  std::string line{};        // perftest's own, clean
};

/// Of a flow without a reading. Nothing where the flow was tried and carried nothing, which is a
/// fault of what it crosses: a port is down, or the queue pair timed out.
/// Source: linux-rdma/perftest, src/perftest_communication.c, src/perftest_resources.c and
/// src/cuda_memory.c.
std::optional<ToolError> tool_error(const Output& sender, const Output& receiver, int rail);

}  // namespace cupel::burnin::fabric
