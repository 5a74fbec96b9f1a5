import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The record classes of a later release, which read the bytes of an earlier one.
 *
 * Some layouts changed under one version number, so by chance the bytes of one may be a whole message of the other.
 */
final class NewerRelease {
    private final ClassLoader classes;

    NewerRelease(String classpath) throws MalformedURLException {
        List<URL> jars = new ArrayList<>();
        for (String jar : classpath.split(File.pathSeparator)) jars.add(new File(jar).toURI().toURL());
        // Without this program's own class path, which holds the same names.
        classes = new URLClassLoader(jars.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }

    /** Whether the later release reads all of these bytes, but as something else than what the earlier one wrote. */
    boolean readsOtherwise(String className, short version, byte[] bytes, String json)
        throws ReflectiveOperationException {
        Class<?> message, converter, readable, accessor;
        try {
            message = classes.loadClass(className);
            converter = classes.loadClass(className + "JsonConverter");
            readable = classes.loadClass("org.apache.kafka.common.protocol.Readable");
            accessor = classes.loadClass("org.apache.kafka.common.protocol.ByteBufferAccessor");
        } catch (ClassNotFoundException e) {
            return false;
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        Object source = accessor.getConstructor(ByteBuffer.class).newInstance(buffer);
        Object read;
        try {
            read = message.getConstructor(readable, short.class).newInstance(source, version);
        } catch (InvocationTargetException refusal) {
            return false;
        }
        Object told = converter.getMethod("write", message, short.class).invoke(null, read, version);
        return !buffer.hasRemaining() && !told.toString().equals(json);
    }
}
