#include "stream.h"

#include <spa/buffer/buffer.h>

static const void *find(const struct spa_buffer *buffer, uint32_t type, size_t size) {
    return spa_buffer_find_meta_data(buffer, type, size);
}

static upcast_pipewire_rectangle rectangle(const struct spa_region *region) {
    // Sizes of more than 31 bits do not fit into a picture.
    const uint32_t width = region->size.width, height = region->size.height;
    if (width > INT32_MAX || height > INT32_MAX) return (upcast_pipewire_rectangle){0, 0, 0, 0};
    return (upcast_pipewire_rectangle){region->position.x, region->position.y, (int32_t)width, (int32_t)height};
}

static void read_damage(const struct spa_buffer *buffer, upcast_pipewire_picture *picture) {
    const struct spa_meta *meta = spa_buffer_find_meta(buffer, SPA_META_VideoDamage);
    if (!meta) return;
    const struct spa_meta_region *region;
    spa_meta_for_each(region, meta) {
        if (!spa_meta_region_is_valid(region)) break;
        // There are more regions than fit here, so the list would be incomplete.
        if (picture->damage_count == sizeof picture->damage / sizeof picture->damage[0]) {
            picture->damage_count = 0;
            break;
        }
        picture->damage[picture->damage_count++] = rectangle(&region->region);
    }
}

/// Reads the shape of the pointer, if all of it lies in the `room` bytes from `cursor` on.
static void read_shape(
    const struct spa_meta_cursor *cursor, size_t room, upcast_pipewire_picture *picture, const uint8_t **shape) {
    const size_t at = cursor->bitmap_offset;
    if (at < sizeof *cursor || at > room || room - at < sizeof(struct spa_meta_bitmap)) return;
    const struct spa_meta_bitmap *bitmap = SPA_PTROFF(cursor, at, const struct spa_meta_bitmap);
    const upcast_pipewire_shape hidden = {.hot_x = cursor->hotspot.x, .hot_y = cursor->hotspot.y};
    const uint32_t width = bitmap->size.width, height = bitmap->size.height;
    if (bitmap->offset == 0 || width == 0 || height == 0) {
        picture->has_shape = true;
        picture->shape = hidden;
        return;
    }
    const enum upcast_pipewire_format format = upcast_pipewire_format_of(bitmap->format);
    if (format == UPCAST_PIPEWIRE_NO_FORMAT || width > 4096 || height > 4096) return;
    if (bitmap->stride < 0 || (uint32_t)bitmap->stride < width * 4 || bitmap->offset > room - at) return;
    const uint64_t needed = (uint64_t)bitmap->stride * (height - 1) + width * 4;
    if (needed > room - at - bitmap->offset) return;
    picture->has_shape = true;
    picture->shape = hidden;
    *shape = SPA_PTROFF(bitmap, bitmap->offset, const uint8_t);
    picture->shape.format = format;
    picture->shape.width = (int32_t)width;
    picture->shape.height = (int32_t)height;
    picture->shape.stride = bitmap->stride;
}

static void read_pointer(
    const struct spa_buffer *buffer, upcast_pipewire_picture *picture, const uint8_t **shape) {
    const struct spa_meta *meta = spa_buffer_find_meta(buffer, SPA_META_Cursor);
    if (!meta || meta->size < sizeof(struct spa_meta_cursor)) return;
    const struct spa_meta_cursor *cursor = meta->data;
    picture->has_pointer = true;
    picture->is_pointer_visible = spa_meta_cursor_is_valid(cursor);
    if (!picture->is_pointer_visible) return;
    picture->pointer_x = cursor->position.x;
    picture->pointer_y = cursor->position.y;
    read_shape(cursor, meta->size, picture, shape);
}

static void read_pixels(
    const struct spa_buffer *buffer, bool is_corrupted, upcast_pipewire_picture *picture, const uint8_t **memory) {
    const struct spa_data *data = buffer->n_datas ? &buffer->datas[0] : NULL;
    const bool has_pixels = data && data->data && data->chunk && data->chunk->size > 0;
    if (!has_pixels || is_corrupted || data->chunk->flags & SPA_CHUNK_FLAG_CORRUPTED) {
        // A buffer that only moves the pointer has no pixels, and is marked in the same way.
        picture->is_lost = has_pixels || !picture->has_pointer;
        return;
    }
    *memory = data->data;
    picture->has_picture = true;
    picture->byte_count = data->maxsize;
    picture->offset = data->chunk->offset;
    picture->size = data->chunk->size;
    picture->stride = data->chunk->stride;
}

void upcast_pipewire_read_buffer(
    const struct spa_buffer *buffer, const struct spa_video_info_raw *format, upcast_pipewire_picture *picture,
    const uint8_t **memory, const uint8_t **shape) {
    *memory = *shape = NULL;
    picture->transform = -1;
    picture->time = -1;
    picture->format = upcast_pipewire_format_of(format->format);
    picture->width = format->size.width;
    picture->height = format->size.height;
    const struct spa_meta_header *header = find(buffer, SPA_META_Header, sizeof *header);
    if (header) {
        picture->time = header->pts;
        picture->sequence = header->seq;
    }
    const struct spa_meta_region *crop = find(buffer, SPA_META_VideoCrop, sizeof *crop);
    if (crop && spa_meta_region_is_valid(crop)) picture->crop = rectangle(&crop->region);
    const struct spa_meta_videotransform *transform = find(buffer, SPA_META_VideoTransform, sizeof *transform);
    if (transform && transform->transform < 8) picture->transform = (int32_t)transform->transform;
    read_damage(buffer, picture);
    read_pointer(buffer, picture, shape);
    read_pixels(buffer, header && header->flags & SPA_META_HEADER_FLAG_CORRUPTED, picture, memory);
}
