#pragma once
// The answer to each demand of a list. Pure.
#include "orchestrator/compliance/evidence.h"
#include "orchestrator/compliance/list.h"

namespace cupel::compliance {

enum class Status {
  proven,    // on every node
  not_met,   // found out, and not so on some node
  not_run,   // on some node nothing has measured it yet, or a person is to look
  not_here,  // Cupel cannot prove it
};

std::string_view to_string(Status status);

struct Answer {
  std::string id{}, asks{};
  Status status = Status::not_run;
  std::string says{};     // "8 of 8 nodes, run 12: gemm.errors 0 errors"
  std::string command{};  // what would measure or show it; empty where it is proven
  std::vector<engine::RunId> runs{};
  std::vector<std::string> failed{}, unmeasured{};  // nodes
};

struct Answers {
  std::string list{}, title{}, source{}, date{}, covers{};
  std::string site{};
  std::size_t nodes = 0;
  bool rehearsal = false;
  std::vector<Answer> rows{};

  std::size_t count(Status status) const;
};

/// `evidence`: of every node that the answer is for.
Answers answer(const DemandList& list, const Evidence& evidence);

}  // namespace cupel::compliance
