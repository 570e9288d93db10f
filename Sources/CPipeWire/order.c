#include "CPipeWire.h"

#include <string.h>

// Senders fill their buffers in turn, and get each of them back when they fill the next one. PipeWire has one place for
// a buffer on the way. A buffer that is not fetched in time is replaced by the next one, without a notice.

static void remove_at(upcast_pipewire_order *order, uint32_t at) {
    order->count--;
    memmove(&order->buffers[at], &order->buffers[at + 1], (order->count - at) * sizeof order->buffers[0]);
}

void upcast_pipewire_order_add(upcast_pipewire_order *order, uintptr_t buffer) {
    if (order->count < UPCAST_PIPEWIRE_BUFFERS) order->buffers[order->count++] = buffer;
}

void upcast_pipewire_order_remove(upcast_pipewire_order *order, uintptr_t buffer) {
    for (uint32_t i = order->count; i-- > 0;)
        if (order->buffers[i] == buffer) remove_at(order, i);
}

/// Returns how many buffers should have come before this one. They move to the end of the order, with this one last.
static uint32_t take_turn(upcast_pipewire_order *order, uintptr_t buffer) {
    for (uint32_t i = 0; i < order->count; i++) {
        if (order->buffers[i] != buffer) continue;
        for (uint32_t passed = 0; passed <= i; passed++) {
            const uintptr_t first = order->buffers[0];
            remove_at(order, 0);
            upcast_pipewire_order_add(order, first);
        }
        return i;
    }
    return 0;
}

bool upcast_pipewire_order_take(upcast_pipewire_order *order, uintptr_t buffer, uint64_t sequence) {
    const uint64_t last = order->sequence;
    const uint32_t passed = take_turn(order, buffer);
    order->sequence = sequence;
    return sequence != 0 && last != 0 ? sequence != last + 1 : passed > 0;
}
