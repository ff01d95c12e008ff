// Journals of older versions: their words mean what the present ones mean.
#include "orchestrator/engine/former_words.h"

#include <gtest/gtest.h>

#include <array>

#include "orchestrator/engine/command.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/engine/run_state.h"
#include "orchestrator/record/node_record.h"

namespace cupel::engine {
namespace {

TEST(FormerOutcomes, MeanWhatThePresentOnesMean) {
  for (const auto& row : kFormerOutcomes) {
    ASSERT_TRUE(outcome_of(row.now)) << row.now;
    EXPECT_EQ(outcome_of(row.former), outcome_of(row.now)) << row.former;
    EXPECT_EQ(to_string(*outcome_of(row.former)), row.now);
  }
}

TEST(FormerOutcomes, AreTranslatedInANodesRecord) {
  for (const auto& row : kFormerOutcomes) {
    Event began, ended;
    began.kind = EventKind::step_began;
    ended.kind = EventKind::step_ended;
    began.node = ended.node = "n1";
    began.step = ended.step = "power-on";
    ended.data = {{"outcome", row.former}, {"detail", "why"}};

    const std::array events{began, ended};

    const auto record = record::record_of("n1", fold(events));

    ASSERT_EQ(record.steps.size(), 1u);
    EXPECT_EQ(record.steps[0].outcome, row.now);
  }
}

TEST(FormerCommandKinds, AreReadFromAnOldStore) {
  for (const auto& row : kFormerCommandKinds) {
    ASSERT_TRUE(command_kind(row.now)) << row.now;
    EXPECT_EQ(command_kind(row.former), command_kind(row.now)) << row.former;
  }
}

}  // namespace
}  // namespace cupel::engine
