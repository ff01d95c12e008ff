#pragma once
// Where ranks of several nodes meet: the id, made here or brought from the node that made it, and
// whether its address can be reached from here.
#include <chrono>
#include <functional>
#include <string>

#include "base/nccl_id.h"
#include "burnin/agent/burn/nccl.h"
#include "burnin/agent/burn/options.h"
#include "burnin/agent/common/json_line.h"

namespace cupel::burn {

struct Meeting {
  NcclId id{};
  nccl::UniqueId raw{};
};

/// NCCL listens at the id's address for as long as this process lives. Errors: nccl, in NCCL's
/// words (no such network interface); usage where it made an id that has no address.
Outcome<Meeting> make_id(const nccl::Library& library);

/// Of --id HEX, or of the file that --id-file names ("-": standard input, to its end, for 60 s at
/// most). Errors: usage.
Outcome<Meeting> read_id(const Options& options);

/// The environment for NCCL of --interface, or of the interface that has --address: that one, and
/// no other one with a longer name. Errors: usage: it is no address, or no interface has it.
Outcome<> choose_interface(const Options& options);

/// Connects over TCP and hangs up, which the listening NCCL passes over (2.28.9: as often as one
/// likes, where no byte is sent). Tries again until `within` is over, since a listener may be about
/// to begin. Errors: nccl, naming the address.
Outcome<> reach(const NcclId& id, std::chrono::duration<double> within,
                const std::function<bool()>& is_over);

/// {"kind":"nccl-id","id":"...","address":"10.0.0.1","port":39035,"nccl":"2.28.9"}
agent::JsonLine id_line(const NcclId& id, std::string_view version);

}  // namespace cupel::burn
