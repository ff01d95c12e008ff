#include <array>

#include "burnin/measures/tables.h"

namespace cupel::burnin {
namespace {

constexpr std::array kBoardMeasures{
    MeasureRow{"thermal.steady", "", "1: no temperature rose any more at the end", Better::more},
    MeasureRow{"thermal.seconds", "s", "how long the load ran"},
    MeasureRow{"thermal.spread", "C", "between the hottest and the coolest of the same parts",
               Better::less},
    MeasureRow{"thermal.above_neighbours", "C",
               "hotter than the median of the node's other GPUs; 0: not hotter", Better::less},
    MeasureRow{"thermal.margin", "C", "left to the part's slowdown temperature", Better::more},
    MeasureRow{"thermal.memory", "C", "highest memory temperature of a GPU", Better::less},
    MeasureRow{"thermal.inlet", "C", "air at the node's inlet", Better::less},
    MeasureRow{"thermal.inlet.above_neighbours", "C",
               "above the inlets of the nearest machines in the rack", Better::less},
    MeasureRow{"thermal.faults", "errors", "wrong results under heat", Better::less},
    MeasureRow{"fan.speed", "rpm", "slowest fan while watched"},
    MeasureRow{"psu.redundant", "", "1: the supplies are redundant, by the BMC", Better::more},
    MeasureRow{"psu.share.spread", "%", "between the supplies' shares of the load", Better::less},
    MeasureRow{"psu.voltage.lowest", "V", "lowest input voltage under load", Better::more},
    MeasureRow{"psu.power.step", "W", "between idle and load, as the BMC reports it", Better::more},
    MeasureRow{"psu.lost", "count", "supplies that were lost during the stage", Better::less},
    MeasureRow{"psu.hot", "count", "temperatures that the BMC called too high during the stage",
               Better::less},
    MeasureRow{"psu.inlet.rise", "C", "highest inlet air, above the same while idle", Better::less},
    MeasureRow{"psu.readings", "count", "readings of the BMC that count", Better::more},
    MeasureRow{"psu.feed.tested", "", "1: the feed was taken away", Better::more, true},
    MeasureRow{"psu.feed.lost", "count", "supplies that lost their input while the feed was away",
               Better::more},
    MeasureRow{"psu.feed.carried", "", "1: the node ran on without the feed", Better::more},
    MeasureRow{"psu.feed.back", "", "1: all supplies were well again when the feed was back",
               Better::more},
    MeasureRow{"sensor.leak", "count", "leak sensors that reported a leak", Better::less},
    MeasureRow{"settings.set", "count", "settings that were changed"},
    MeasureRow{"settings.failed", "count", "settings that did not take", Better::less},
    MeasureRow{"settings.restart", "count", "settings that take effect after a restart"},
    MeasureRow{"settings.left", "count", "settings that were not put back", Better::less},
    MeasureRow{"settings.restored", "count", "settings that were put back"},
    MeasureRow{"settings.lost", "count", "settings that did not stay as they were set",
               Better::less},
};

}  // namespace

std::span<const MeasureRow> board_measure_rows() { return kBoardMeasures; }

}  // namespace cupel::burnin
